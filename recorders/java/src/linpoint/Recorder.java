package linpoint;

import java.io.BufferedWriter;
import java.io.Closeable;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Records what threads call, and what they get, as a history for {@code linpoint check}.
 *
 * <pre>
 * try (Recorder recorder = new Recorder(Path.of("history.jsonl"), "queue", Map.of())) {
 *     // in each thread:
 *     recorder.run("enq", () -&gt; queue.add(1), 1);
 *     Integer first = recorder.call("deq", () -&gt; queue.poll());
 * }
 * </pre>
 *
 * One counter numbers all calls and returns, so the order of events is that of time: a call is numbered before it is made, and
 * a return after its result is written down. Each thread is a process of the history. Threads share nothing but the counter; a thread of
 * the recorder writes the events to the file, in their order. If the program is killed, the file holds the events up to some
 * moment, which is a history too; its last line may be cut off ({@code linpoint check --allow-truncated}).
 *
 * <p>{@link #crashSafe} records so that the file has every event before the program goes on: what had returned when the program was killed,
 * and what was asked for. It also writes times, and how they relate to other clocks, for {@code linpoint merge}.
 */
public final class Recorder implements Closeable {
    /** How long the writer sleeps between two rounds. */
    private static final long ROUND_MILLIS = 20;

    private record Event(long number, String json) {}

    /** The events of one thread that are not yet written, and the process that it is at present. */
    private final class Log {
        final Queue<Event> events = new ConcurrentLinkedQueue<>();
        int process = processes.getAndIncrement();
        Operation open;
    }

    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger processes = new AtomicInteger();
    private final Queue<Log> logs = new ConcurrentLinkedQueue<>();
    private final ThreadLocal<Log> log = ThreadLocal.withInitial(() -> {
        Log mine = new Log();
        logs.add(mine);
        return mine;
    });
    private final Answers answers;
    /** Where events are written at once; null if the writer writes them. */
    private final EventFile atOnce;
    private final Writer file;
    private final Thread writer;
    private final CountDownLatch closed = new CountDownLatch(1);
    private volatile IOException failure;
    /** For the writer alone: events that wait for one with a smaller number. */
    private final PriorityQueue<Event> waiting = new PriorityQueue<>((a, b) -> Long.compare(a.number(), b.number()));
    private long next;

    /**
     * Records an object of a type of linpoint, with parameters of the type; null for a file that names none. Results are
     * written as {@link Answers#TEXT} if the type is a class of {@code java.util.concurrent}, and as {@link Answers#JSON} if not.
     */
    public Recorder(Path path, String type, Map<String, ?> params) throws IOException {
        this(path, type, params, answers(type));
    }

    /** Records with results in this form. */
    public Recorder(Path path, String type, Map<String, ?> params, Answers answers) throws IOException {
        this.answers = answers;
        atOnce = null;
        file = new BufferedWriter(new OutputStreamWriter(new FileOutputStream(path.toFile()), StandardCharsets.US_ASCII));
        file.write(Json.text(header(type, params)) + "\n");
        writer = new Thread(this::writeRounds, "linpoint recorder");
        writer.setDaemon(true);
        writer.start();
    }

    private Recorder(EventFile atOnce, Answers answers) {
        this.answers = answers;
        this.atOnce = atOnce;
        file = null;
        writer = null;
    }

    /**
     * Records into a new file, which must not exist. Every event is in the file before the program goes on, and has a time; threads wait for
     * each other to write. After an event that cannot be written nothing more is, and {@link #close} tells why.
     */
    public static Recorder crashSafe(Path path, String type, Map<String, ?> params) throws IOException {
        return new Recorder(new EventFile(path, header(type, params)), answers(type));
    }

    private static Answers answers(String type) {
        return type != null && type.startsWith("java.") ? Answers.TEXT : Answers.JSON;
    }

    private static Map<String, Object> header(String type, Map<String, ?> params) {
        Map<String, Object> header = new LinkedHashMap<>();
        header.put("linpoint", 1);
        if (type != null) {
            header.put("type", type);
        }
        if (!params.isEmpty()) {
            header.put("params", params);
        }
        return header;
    }

    /** A block that returns nothing. */
    @FunctionalInterface
    public interface Block {
        /** Does the operation. */
        void run() throws Exception;
    }

    /** Makes a call and records it with its arguments, and its result or exception, which is passed on. */
    public <R> R call(String method, Callable<R> body, Object... arguments) throws Exception {
        Operation operation = begin(method, arguments);
        R result;
        try {
            result = body.call();
        } catch (Throwable thrown) {
            operation.threw(thrown);
            throw thrown;
        }
        operation.returned(result);
        return result;
    }

    /** Makes a call that returns nothing and records it with its arguments, and its exception, if any, which is passed on. */
    public void run(String method, Block body, Object... arguments) throws Exception {
        Operation operation = begin(method, arguments);
        try {
            body.run();
        } catch (Throwable thrown) {
            operation.threw(thrown);
            throw thrown;
        }
        operation.returned();
    }

    /**
     * Records that this thread calls now. The caller makes the call and then says how it ended. An operation that never ends, such as a
     * request whose answer was lost, stays pending; the thread is another process from its next call on.
     */
    public Operation begin(String method, Object... arguments) {
        Log mine = log.get();
        if (mine.open != null) {
            mine.process = processes.getAndIncrement();
        }
        Operation operation = new Operation(mine);
        mine.open = operation;
        String argument = arguments.length == 0 ? "" : ",\"arg\":" + Json.text(argument(arguments));
        operation.record("\"event\":\"call\",\"method\":" + Json.quoted(method) + argument);
        return operation;
    }

    /**
     * The types of java.util.concurrent take a list of arguments, also of one, with maps as lists of pairs in their order; others take
     * one as it is.
     */
    private Object argument(Object[] arguments) {
        if (answers == Answers.JSON) {
            return arguments.length == 1 ? arguments[0] : Arrays.asList(arguments);
        }
        return Arrays.stream(arguments).map(argument -> argument instanceof Map<?, ?> map ? pairs(map) : argument).toList();
    }

    private static List<Object> pairs(Map<?, ?> map) {
        List<Object> pairs = new ArrayList<>();
        map.forEach((key, value) -> pairs.add(Arrays.asList(key, value)));
        return pairs;
    }

    /** Writes a note beside the operations, such as a fault that was injected. */
    public void note(String text) {
        record(log.get(), "{\"event\":\"note\",\"text\":" + Json.quoted(text));
    }

    /** Numbers the event, or writes it. */
    private void record(Log by, String json) {
        if (closed.getCount() == 0) {
            throw new IllegalStateException("the recorder is closed");
        }
        if (atOnce != null) {
            atOnce.write(json);
        } else {
            by.events.add(new Event(clock.getAndIncrement(), json + "}\n"));
        }
    }

    /** An operation of one thread between its call and its return. */
    public final class Operation {
        private final Log mine;
        private final int process;

        private Operation(Log mine) {
            this.mine = mine;
            this.process = mine.process;
        }

        /** The operation returned nothing. */
        public void returned() {
            end("\"event\":\"return\"");
        }

        /** The operation returned this result, which may be null. */
        public void returned(Object result) {
            end("\"event\":\"return\",\"ret\":" + answers.returned(result).json());
        }

        /** The operation threw. Its result is the name of the exception. */
        public void threw(Throwable thrown) {
            end("\"event\":\"return\",\"ret\":" + Answers.threw(thrown).json());
        }

        /** The operation is known not to have taken effect. */
        public void failed() {
            end("\"event\":\"fail\"");
        }

        /** The operation may have taken effect, or may do so later: a time-out, a lost connection. The thread is another process from now on. */
        public void unknown() {
            end("\"event\":\"crash\"");
            mine.process = processes.getAndIncrement();
        }

        private void end(String event) {
            if (mine.open != this) {
                throw new IllegalStateException("this operation is not the one that its thread has open");
            }
            mine.open = null;
            record(event);
        }

        /** The number comes last, for returns, and the call is made afterwards, for calls. */
        private void record(String event) {
            Recorder.this.record(mine, "{\"process\":" + process + "," + event);
        }
    }

    private void writeRounds() {
        try {
            while (!closed.await(ROUND_MILLIS, TimeUnit.MILLISECONDS)) {
                writeRound();
            }
            writeRound();
        } catch (IOException error) {
            failure = error;
        } catch (InterruptedException error) {
            failure = new InterruptedIOException();
        }
    }

    /** Writes the events whose predecessors are all there. */
    private void writeRound() throws IOException {
        for (Log each : logs) {
            for (Event event = each.events.poll(); event != null; event = each.events.poll()) {
                waiting.add(event);
            }
        }
        while (!waiting.isEmpty() && waiting.peek().number() == next) {
            file.write(waiting.poll().json());
            next++;
        }
        file.flush();
    }

    /** Writes the rest. Threads must not record any more; what they have open is pending. */
    @Override
    public void close() throws IOException {
        closed.countDown();
        if (atOnce != null) {
            atOnce.close();
            return;
        }
        try {
            writer.join();
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException();
        }
        file.close();
        if (failure != null) {
            throw failure;
        }
        if (next != clock.get()) {
            throw new IllegalStateException("some thread still recorded when the recorder was closed; the end of the history is missing");
        }
    }
}
