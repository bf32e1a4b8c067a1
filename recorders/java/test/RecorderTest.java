import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentLinkedQueue;
import linpoint.Recorder;

/**
 * Records queues for `ci/java`, into the folder that is named: good.jsonl is linearizable, bad.jsonl is not, pending.jsonl has an
 * operation that never returned, values.jsonl all kinds of values.
 */
public final class RecorderTest {
    private static final int THREADS = 4;
    private static final int CALLS = 2000;

    private RecorderTest() {}

    public static void main(String[] args) throws Exception {
        Path folder = Path.of(args[0]);
        good(folder.resolve("good.jsonl"));
        bad(folder.resolve("bad.jsonl"));
        pending(folder.resolve("pending.jsonl"));
        values(folder.resolve("values.jsonl"));
        cost(folder.resolve("cost.jsonl"));
    }

    /** Threads add and take values at the same time. */
    private static void good(Path path) throws Exception {
        ConcurrentLinkedQueue<Integer> queue = new ConcurrentLinkedQueue<>();
        try (Recorder recorder = new Recorder(path, "java.util.concurrent.ConcurrentLinkedQueue", Map.of())) {
            Thread[] threads = new Thread[THREADS];
            for (int i = 0; i < THREADS; i++) {
                int first = i * CALLS;
                threads[i] = new Thread(() -> use(recorder, queue, first));
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
        }
        List<String> lines = Files.readAllLines(path);
        check(lines.size() == 1 + THREADS * CALLS * 2, "a line for each event, not " + lines.size());
    }

    private static void use(Recorder recorder, ConcurrentLinkedQueue<Integer> queue, int first) {
        try {
            for (int i = 0; i < CALLS; i++) {
                int value = first + i;
                if (i % 2 == 0) {
                    recorder.call("offer", () -> queue.offer(value), value);
                } else {
                    try {
                        recorder.call("remove", () -> queue.remove());
                    } catch (NoSuchElementException expected) {
                        // The recorder passes it on.
                    }
                }
            }
        } catch (Exception error) {
            throw new AssertionError(error);
        }
    }

    /** A stack, recorded as a queue. */
    private static void bad(Path path) throws Exception {
        try (Recorder recorder = new Recorder(path, "queue", Map.of())) {
            recorder.run("enq", () -> {}, 1);
            recorder.run("enq", () -> {}, 2);
            recorder.call("deq", () -> 2);
        }
    }

    /** A value that was taken although its insertion never returned, by a thread that went on. */
    private static void pending(Path path) throws Exception {
        try (Recorder recorder = new Recorder(path, "queue", Map.of())) {
            recorder.begin("enq", 1);
            recorder.begin("enq", 5).failed();
            recorder.call("deq", () -> 1);
        }
        check(Files.readString(path).contains("\"process\":1"), "the thread is another process");
    }

    private static void values(Path path) throws Exception {
        try (Recorder recorder = new Recorder(path, null, Map.of())) {
            recorder.call("get", () -> Map.of("a", List.of(1, "b \"c\"\n\u00fc")), (Object) null);
            recorder.call("list", () -> new int[] {1, 2}, List.of(1, 2), "x");
            recorder.call("set", () -> java.util.Set.of(3, 1, 2));
        }
        List<String> lines = Files.readAllLines(path);
        check(lines.equals(List.of(
            "{\"linpoint\":1}",
            "{\"process\":0,\"event\":\"call\",\"method\":\"get\",\"arg\":null}",
            "{\"process\":0,\"event\":\"return\",\"ret\":{\"a\":[1,\"b \\\"c\\\"\\u000a\\u00fc\"]}}",
            "{\"process\":0,\"event\":\"call\",\"method\":\"list\",\"arg\":[[1,2],\"x\"]}",
            "{\"process\":0,\"event\":\"return\",\"ret\":[1,2]}",
            "{\"process\":0,\"event\":\"call\",\"method\":\"set\"}",
            "{\"process\":0,\"event\":\"return\",\"ret\":[1,2,3]}")), lines.toString());
    }

    /** Prints how much time of the processor an operation that does nothing takes. */
    private static void cost(Path path) throws Exception {
        int operations = 200_000;
        try (Recorder recorder = new Recorder(path, "queue", Map.of())) {
            ThreadMXBean times = ManagementFactory.getThreadMXBean();
            long start = times.getCurrentThreadCpuTime();
            for (int i = 0; i < operations; i++) {
                recorder.run("enq", () -> {}, i);
            }
            System.out.printf("recorder: %d ns for each operation%n", (times.getCurrentThreadCpuTime() - start) / operations);
        }
        Files.delete(path);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
