package linpoint;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;
import linpoint.Subject.Call;

/**
 * A model whose answers come from a Java class, used by one thread: the class under test is its own specification.
 *
 * <pre>
 * linpoint check h.jsonl --model-cmd 'java -cp linpoint.jar linpoint.ClassUnderTest java.util.concurrent.ConcurrentLinkedDeque'
 * linpoint check h.jsonl --model-cmd 'java -cp linpoint.jar:target/classes linpoint.ClassUnderTest --state toString org.example.Cache 100'
 * </pre>
 *
 * The arguments of the constructor follow the name of the class, each as JSON.
 *
 * A state is the sequence of calls that led there. A step replays them on a new instance and then makes its own call. Two
 * sequences are two states, even if no call can tell them apart, so that the search of a long history takes long.
 * {@code --state toString} takes states for equal whose instances have the same text; {@code --state equals} those whose
 * instances are equal. That is right if the text, or equals, tells all that later calls can see.
 *
 * The argument of a call is null for none and a list for several. {@code --answers text} writes {@link Answers} as the
 * histories of Violat have them. A call that waits after {@code --blocked} milliseconds, 200 at first, is blocked.
 * The protocol is described in docs/model-programs.md.
 */
public final class ClassUnderTest {
    private static final String USAGE = "usage: java -cp linpoint.jar linpoint.ClassUnderTest [--state calls|toString|equals]"
        + " [--answers json|text] [--blocked MILLISECONDS] CLASS [ARGUMENT...]";

    private static final Set<Thread.State> WAITING =
        EnumSet.of(Thread.State.WAITING, Thread.State.TIMED_WAITING, Thread.State.BLOCKED);

    /** What makes two states one. */
    enum Identity { CALLS, TO_STRING, EQUALS }

    private final Subject subject;
    private final Identity identity;
    private final long blockedMillis;
    private final Answers answers;
    /** The calls that lead to a state, and what makes it this one. */
    private record State(List<Call> calls, Object key) {}

    private final List<State> states = new ArrayList<>();
    private final Map<Object, Integer> numbers = new HashMap<>();
    private final ExecutorService callers = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    private ClassUnderTest(Subject subject, Identity identity, long blockedMillis, Answers answers) {
        this.subject = subject;
        this.identity = identity;
        this.blockedMillis = blockedMillis;
        this.answers = answers;
    }

    public static void main(String[] args) throws Exception {
        Identity identity = Identity.CALLS;
        long blockedMillis = 200;
        Answers answers = Answers.JSON;
        int i = 0;
        for (; i + 1 < args.length && args[i].startsWith("--"); i += 2) {
            switch (args[i] + " " + args[i + 1]) {
                case "--state calls" -> identity = Identity.CALLS;
                case "--state toString" -> identity = Identity.TO_STRING;
                case "--state equals" -> identity = Identity.EQUALS;
                case "--answers json" -> answers = Answers.JSON;
                case "--answers text" -> answers = Answers.TEXT;
                default -> {
                    if (!args[i].equals("--blocked")) {
                        throw new IllegalArgumentException("unknown option " + args[i] + " " + args[i + 1]);
                    }
                    blockedMillis = Long.parseLong(args[i + 1]);
                }
            }
        }
        if (i >= args.length || args[i].startsWith("--")) {
            System.err.println(USAGE);
            System.exit(2);
        }
        List<Object> arguments = Arrays.stream(args).skip(i + 1).map(Json::read).toList();
        new ClassUnderTest(new Subject(args[i], arguments), identity, blockedMillis, answers).run();
    }

    private void run() throws Exception {
        // What the class prints must not get between the answers.
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        in.readLine();
        Map<String, Object> hello = new LinkedHashMap<>();
        hello.put("linpoint", 1);
        hello.put("init", number(List.of(), instance(List.of())));
        hello.put("methods", subject.methods());
        hello.put("answers", List.of("describe"));
        write(out, hello);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<?, ?> question = (Map<?, ?>) Json.read(line);
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("id", question.get("id"));
            try {
                if (question.get("describe") instanceof List<?> numbers) {
                    answer.put("describe", numbers.stream().map(this::describe).toList());
                } else {
                    List<Object> steps = new ArrayList<>();
                    for (Object step : (List<?>) question.get("steps")) {
                        steps.add(step((Map<?, ?>) step));
                    }
                    answer.put("steps", steps);
                }
            } catch (NoSuchMethodException error) {
                answer.put("error", error.getMessage());
            }
            write(out, answer);
        }
    }

    private static void write(PrintStream out, Object answer) {
        out.print(Json.text(answer) + "\n");
        out.flush();
    }

    /** A new instance on which these calls were made. */
    private Object instance(List<Call> calls) throws NoSuchMethodException, InterruptedException {
        Object instance = subject.newInstance();
        for (Call call : calls) {
            subject.prepare(call).on(instance, answers);
        }
        return instance;
    }

    /** The number of the state after these calls, which led this instance there. */
    private int number(List<Call> calls, Object instance) {
        Object key = switch (identity) {
            case CALLS -> calls;
            case TO_STRING -> instance.toString();
            case EQUALS -> instance;
        };
        return numbers.computeIfAbsent(key, unused -> {
            states.add(new State(calls, key));
            return states.size() - 1;
        });
    }

    private String describe(Object number) {
        State state = states.get(((Number) number).intValue());
        if (state.key() instanceof String text) {
            return text;
        }
        List<String> texts = state.calls().stream().map(Call::toString).toList();
        return "that after " + (texts.isEmpty() ? "no call" : String.join(", ", texts));
    }

    /** The outcomes of a step: one pair of answer and next state, or none if the call is blocked. */
    private List<Object> step(Map<?, ?> step) throws Exception {
        List<Call> calls = states.get(((Number) step.get("state")).intValue()).calls();
        Object instance = instance(calls);
        Call call = new Call((String) step.get("method"), step.get("arg"));
        Json.Raw answer = answer(subject.prepare(call), instance);
        if (answer == null) {
            return List.of();
        }
        List<Call> following = new ArrayList<>(calls);
        following.add(call);
        return List.of(List.of(answer, number(following, instance)));
    }

    /** The answer of a call, or null if it is blocked: it did not return in time, and its thread waits. */
    private Json.Raw answer(Subject.Invocation invocation, Object instance) throws Exception {
        AtomicReference<Thread> caller = new AtomicReference<>();
        Future<Json.Raw> returned = callers.submit(() -> {
            caller.set(Thread.currentThread());
            return invocation.on(instance, answers);
        });
        while (true) {
            try {
                return returned.get(blockedMillis, TimeUnit.MILLISECONDS);
            } catch (TimeoutException late) {
                // On a busy machine a thread that could go on may be late, too.
                if (caller.get() != null && WAITING.contains(caller.get().getState()) && !returned.isDone()) {
                    returned.cancel(true);
                    return null;
                }
            } catch (ExecutionException error) {
                throw (Exception) error.getCause();
            }
        }
    }
}
