package linpoint;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import linpoint.Subject.Call;
import linpoint.Subject.Invocation;
import linpoint.Workers.Event;

/**
 * Records any class: makes random programs of some threads and calls, runs each many times on new instances, and writes the
 * histories that differ.
 *
 * <pre>
 * java -cp linpoint.jar linpoint.Driver --threads 3 --calls 3 --output histories.jsonl Cache.json
 * </pre>
 *
 * The file that describes the class is a {@link Description}. docs/java.md lists the options.
 */
public final class Driver {
    private static final String USAGE = """
        usage: java -cp linpoint.jar linpoint.Driver [OPTION VALUE]... DESCRIPTION.json
          --threads N       threads of a program [3]
          --calls N         calls of each thread [3]
          --methods WHICH   core, all, one other method, such as "addAll(c)", which is called beside the core ones, or each:
                            core and each of these, in files of their own in the folder --output [all]
          --programs N      random programs [100]
          --runs N          runs of each program [1000]
          --distinct WHAT   events: histories differ if any event does; answers: of the runs with the same answers, the one with
                            the fewest concurrent pairs counts, which is the hardest to explain [events]
          --keep N          most histories to write for each program [10]
          --format F        jsonl or violat [jsonl]
          --answers A       json or text [json; text for violat]
          --integers L,H    the range of all integers, instead of that of the description
          --values V        what elements, keys and values are, a JSON list, instead of integers
          --elements E      integers, longs or stepped: what integers are where any object will do, instead of that of the description
          --constructor A   the arguments of the constructor, a JSON list, instead of those of the description
          --blocked MS      when calls that have not returned are given up, and pending [2000]
          --seed N          the seed of the programs [1]
          --output FILE     the file to write [the standard output]
          --falsified FILE  another file, with one answer changed in each history; only with one thread""";

    /** How many runs threads make before their histories are collected: of one program, or of several that have fewer runs. */
    private static final int BATCH = 100;

    private final Description description;
    private final Subject subject;
    private final Options options;
    private final Workers workers;
    private final Random random;
    private int programs;
    private long runs;
    private long written;

    private record Options(int threads, int calls, String methods, int programs, int runs, Distinct distinct, int keep, Format format,
            Answers answers, long blocked, long seed) {}

    /** What tells two histories of a program apart. */
    private enum Distinct {
        EVENTS,
        ANSWERS;

        Object key(List<Event> events) {
            if (this == EVENTS) {
                return events;
            }
            return events.stream().filter(event -> event.answer() != null).collect(Collectors.toSet());
        }
    }

    /** A history, and how many runs gave it or one that counts as the same. */
    private record Found(List<Event> events, int count) {
        Found or(Found other) {
            List<Event> fewer = Workers.concurrentPairs(other.events) < Workers.concurrentPairs(events) ? other.events : events;
            return new Found(fewer, count + other.count);
        }
    }

    private Driver(Description description, Options options) throws ClassNotFoundException {
        this.description = description;
        this.options = options;
        Pauses pauses = new Pauses();
        subject = new Subject(description.type(), description.constructor(), pauses, description.elements());
        workers = new Workers(options.threads(), options.answers(), pauses, options.blocked());
        random = new Random(options.seed());
    }

    public static void main(String[] args) throws Exception {
        Map<String, String> given = new LinkedHashMap<>();
        int i = 0;
        for (; i + 1 < args.length && args[i].startsWith("--"); i += 2) {
            given.put(args[i].substring(2), args[i + 1]);
        }
        if (i + 1 != args.length || args[i].startsWith("--")) {
            System.err.println(USAGE);
            System.exit(2);
        }
        try {
            drive(given, Path.of(args[i]));
        } catch (IllegalArgumentException | IOException | ClassNotFoundException | NoSuchMethodException error) {
            System.err.println("linpoint.Driver: " + error);
            System.exit(2);
        }
    }

    private static void drive(Map<String, String> given, Path file) throws Exception {
        Format format = Format.valueOf(given.getOrDefault("format", "jsonl").toUpperCase());
        given.remove("format");
        String answers = format == Format.VIOLAT ? "text" : "json";
        String output = given.remove("output");
        String falsified = given.remove("falsified");
        String elements = given.remove("elements");
        Description description = Description.read(file).with(list(given.remove("constructor")), list(bracketed(given.remove("integers"))),
            list(given.remove("values")), elements == null ? null : Subject.Elements.named(elements));
        Options options = new Options(number(given, "threads", 3), number(given, "calls", 3), text(given, "methods", "all"),
            number(given, "programs", 100), number(given, "runs", 1000),
            Distinct.valueOf(text(given, "distinct", "events").toUpperCase()), number(given, "keep", 10), format,
            Answers.valueOf(text(given, "answers", answers).toUpperCase()), number(given, "blocked", 2000),
            number(given, "seed", 1));
        if (!given.isEmpty()) {
            throw new IllegalArgumentException("unknown options " + given.keySet() + "\n" + USAGE);
        }
        if (format == Format.VIOLAT && options.answers() != Answers.TEXT) {
            throw new IllegalArgumentException("histories of Violat have answers that are texts");
        }
        if (falsified != null && options.threads() != 1) {
            throw new IllegalArgumentException("--falsified: only with one thread is another answer wrong for certain");
        }
        // What the class prints must not get between the histories.
        PrintStream standard = System.out;
        System.setOut(System.err);
        Driver driver = new Driver(description, options);
        PrintStream changed = falsified == null ? null : new PrintStream(falsified, StandardCharsets.US_ASCII);
        if (options.methods().equals("each")) {
            driver.recordEach(Path.of(Objects.requireNonNull(output, "--methods each needs --output")), changed);
        } else {
            PrintStream out = output == null ? standard : new PrintStream(output, StandardCharsets.US_ASCII);
            driver.record(options.methods(), out, changed);
            close(out);
        }
        if (changed != null) {
            close(changed);
        }
        System.err.printf("%s: %d programs, %d runs, %d histories%n", description.type(), driver.programs, driver.runs, driver.written);
    }

    private static String text(Map<String, String> given, String option, String otherwise) {
        String value = given.remove(option);
        return value == null ? otherwise : value;
    }

    private static int number(Map<String, String> given, String option, int otherwise) {
        String value = given.remove(option);
        return value == null ? otherwise : Integer.parseInt(value);
    }

    private static String bracketed(String range) {
        return range == null ? null : "[" + range + "]";
    }

    private static List<Object> list(String json) {
        return json == null ? null : new ArrayList<>((List<?>) Json.read(json));
    }

    private void recordEach(Path folder, PrintStream falsified) throws Exception {
        Files.createDirectories(folder);
        Stream<String> others = description.others().stream().map(Object::toString);
        for (String methods : Stream.concat(Stream.of("core"), others).toList()) {
            PrintStream out = new PrintStream(folder.resolve(methods + ".jsonl").toFile(), StandardCharsets.US_ASCII);
            record(methods, out, falsified);
            close(out);
        }
    }

    private static void close(PrintStream out) throws IOException {
        out.close();
        if (out.checkError()) {
            throw new IOException("the histories cannot be written");
        }
    }

    /** Writes histories of random programs, and each with one answer changed to {@code falsified} unless that is null. */
    private void record(String methods, PrintStream out, PrintStream falsified) throws Exception {
        Program.Choice choice = Program.Choice.of(description, methods);
        int together = Math.max(1, BATCH / Math.max(1, options.runs()));
        for (int left = options.programs(); left > 0; left -= together) {
            List<Program> batch = new ArrayList<>();
            for (int i = Math.min(left, together); i > 0; i--) {
                batch.add(Program.random(description, choice, options.threads(), options.calls(), random));
            }
            programs += batch.size();
            List<List<Found>> found = runs(batch);
            for (int i = 0; i < batch.size(); i++) {
                write(batch.get(i), found.get(i), out, falsified);
            }
        }
    }

    /** Writes some of the histories of a program. */
    private void write(Program program, List<Found> all, PrintStream out, PrintStream falsified) {
        Collections.shuffle(all, random);
        for (Found found : all.subList(0, Math.min(all.size(), options.keep()))) {
            out.print(text(program, found, found.events()));
            written++;
            List<Event> changed = falsified == null ? null : Falsified.of(found.events(), random);
            if (changed != null) {
                falsified.print(text(program, found, changed));
            }
        }
    }

    private String text(Program program, Found found, List<Event> events) {
        return options.format().written(description, program, events, found.count(), options.runs());
    }

    /** Runs each of the programs as often as the options say, and returns its histories that differ. */
    private List<List<Found>> runs(List<Program> batch) throws Exception {
        List<Map<Object, Found>> all = new ArrayList<>();
        batch.forEach(program -> all.add(new LinkedHashMap<>()));
        for (int left = options.runs(); left > 0; left -= BATCH) {
            int times = Math.min(left, BATCH);
            List<Object> instances = new ArrayList<>();
            List<List<List<Invocation>>> prepared = new ArrayList<>();
            for (Program program : batch) {
                for (int i = 0; i < times; i++) {
                    instances.add(subject.newInstance());
                    prepared.add(prepared(program));
                }
            }
            int run = 0;
            for (List<Event> events : workers.run(instances, prepared)) {
                all.get(run / times).merge(options.distinct().key(events), new Found(events, 1), Found::or);
                run++;
            }
            runs += run;
        }
        List<List<Found>> found = new ArrayList<>();
        all.forEach(histories -> found.add(new ArrayList<>(histories.values())));
        return found;
    }

    private List<List<Invocation>> prepared(Program program) throws NoSuchMethodException {
        List<List<Invocation>> prepared = new ArrayList<>();
        for (List<Call> calls : program.threads()) {
            List<Invocation> invocations = new ArrayList<>();
            for (Call call : calls) {
                invocations.add(subject.prepare(call));
            }
            prepared.add(invocations);
        }
        return prepared;
    }
}
