import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
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
        if (args.length > 1) {
            recordUntilKilled(folder.resolve("killed.jsonl"));
        }
        crashSafe(folder.resolve("safe.jsonl"));
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

    /** Threads use a queue; the file has every event at once. */
    private static void crashSafe(Path path) throws Exception {
        ConcurrentLinkedQueue<Integer> queue = new ConcurrentLinkedQueue<>();
        try (Recorder recorder = Recorder.crashSafe(path, "java.util.concurrent.ConcurrentLinkedQueue", Map.of())) {
            Thread[] threads = new Thread[THREADS];
            for (int i = 0; i < THREADS; i++) {
                int first = i * CALLS;
                threads[i] = new Thread(() -> use(recorder, queue, first));
                threads[i].start();
            }
            for (Thread thread : threads) {
                thread.join();
            }
            recorder.note("all is over");
            recorder.begin("offer", -1).unknown();
            List<String> lines = Files.readAllLines(path);
            check(lines.size() == 1 + THREADS * CALLS * 2 + 3, "a line for each event at once, not " + lines.size());
            check(lines.get(0).contains("\"clock\":{\"unix\":"), lines.get(0));
        }
        try {
            Recorder.crashSafe(path, "queue", Map.of());
            throw new AssertionError("a file that exists is refused");
        } catch (java.nio.file.FileAlreadyExistsException expected) {
            // As it should be.
        }
    }

    /** Says after each operation that it has returned, until the program is killed. */
    private static void recordUntilKilled(Path path) throws Exception {
        Recorder recorder = Recorder.crashSafe(path, "counter", Map.of());
        for (int i = 1;; i++) {
            int now = i;
            recorder.call("inc_and_get", () -> now);
            System.out.println(now);
        }
    }

    /** Makes a recorder for a file. */
    private interface Make {
        Recorder at(Path path) throws IOException;
    }

    /** Prints how long an operation that does next to nothing takes, of one thread and of two, bare and recorded: the best of five runs. */
    private static void cost(Path path) throws Exception {
        Map<String, Make> ways = new LinkedHashMap<>();
        ways.put("bare", null);
        ways.put("recorder", file -> new Recorder(file, "counter", Map.of()));
        ways.put("crash-safe recorder", file -> Recorder.crashSafe(file, "counter", Map.of()));
        for (Map.Entry<String, Make> way : ways.entrySet()) {
            long[] best = {Long.MAX_VALUE, Long.MAX_VALUE};
            for (int round = 0; round < 10; round++) {
                int threads = 1 + round % 2;
                Recorder recorder = way.getValue() == null ? null : way.getValue().at(path);
                best[threads - 1] = Math.min(best[threads - 1], nanoseconds(recorder, threads));
                if (recorder != null) {
                    recorder.close();
                }
                Files.deleteIfExists(path);
            }
            System.out.printf("%s: %d ns for each operation of one thread, %d ns of two%n", way.getKey(), best[0], best[1]);
        }
    }

    private static long nanoseconds(Recorder recorder, int threads) throws Exception {
        int operations = 50_000;
        AtomicLong counter = new AtomicLong();
        Thread[] all = new Thread[threads];
        long start = System.nanoTime();
        for (int i = 0; i < threads; i++) {
            all[i] = new Thread(() -> {
                try {
                    for (int j = 0; j < operations; j++) {
                        if (recorder == null) {
                            counter.incrementAndGet();
                        } else {
                            recorder.call("inc_and_get", counter::incrementAndGet);
                        }
                    }
                } catch (Exception error) {
                    throw new AssertionError(error);
                }
            });
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        return (System.nanoTime() - start) / operations;
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }
}
