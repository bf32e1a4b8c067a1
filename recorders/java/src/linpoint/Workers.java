package linpoint;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import linpoint.Subject.Invocation;

/** The threads that run programs, each time on a new instance. */
final class Workers {
    /** How long threads may take to notice interrupts. */
    private static final long INTERRUPT_SECONDS = 60;

    /** An event of a run: a call, or a return if it has an answer. */
    record Event(int thread, int position, Json.Raw answer) {}

    /** Returns how many pairs of calls overlap. */
    static int concurrentPairs(List<Event> events) {
        int pairs = 0;
        int open = 0;
        for (Event event : events) {
            if (event.answer() == null) {
                pairs += open++;
            } else {
                open--;
            }
        }
        return pairs;
    }

    /** One run of a program. */
    private final class Run {
        final Object instance;
        final List<List<Invocation>> program;
        final Event[] events;
        final AtomicInteger clock = new AtomicInteger();
        final AtomicInteger missing;

        Run(Object instance, List<List<Invocation>> program) {
            this.instance = instance;
            this.program = program;
            this.events = new Event[2 * program.stream().mapToInt(List::size).sum()];
            this.missing = new AtomicInteger(program.size());
        }

        /** Makes the calls of one thread when all threads are ready. */
        void thread(int thread) {
            missing.decrementAndGet();
            while (missing.get() > 0) {
                Thread.yield();
            }
            // An interrupt that came too late for the run before.
            Thread.interrupted();
            try {
                List<Invocation> invocations = program.get(thread);
                for (int i = 0; i < invocations.size(); i++) {
                    pauses.run();
                    events[clock.getAndIncrement()] = new Event(thread, i, null);
                    pauses.run();
                    Json.Raw answer = invocations.get(i).on(instance, answers);
                    pauses.run();
                    events[clock.getAndIncrement()] = new Event(thread, i, answer);
                }
            } catch (InterruptedException blocked) {
                // Its last call stays pending.
            }
        }
    }

    /** Runs that follow each other without a word from the main thread. */
    private final class Batch {
        final List<Run> runs;
        /** How many runs of threads are over. */
        final AtomicInteger ended = new AtomicInteger();
        final CountDownLatch done = new CountDownLatch(threads.size());

        Batch(List<Run> runs) {
            this.runs = runs;
        }

        void thread(int thread) {
            for (Run run : runs) {
                if (thread == 0) {
                    pauses.choose();
                }
                run.thread(thread);
                ended.incrementAndGet();
            }
            done.countDown();
        }
    }

    private final Answers answers;
    private final Pauses pauses;
    private final long blockedMillis;
    private final List<SynchronousQueue<Batch>> inboxes = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    Workers(int count, Answers answers, Pauses pauses, long blockedMillis) {
        this.answers = answers;
        this.pauses = pauses;
        this.blockedMillis = blockedMillis;
        for (int i = 0; i < count; i++) {
            int thread = i;
            SynchronousQueue<Batch> inbox = new SynchronousQueue<>();
            Thread worker = new Thread(() -> work(thread, inbox), "worker " + thread);
            worker.setDaemon(true);
            worker.start();
            inboxes.add(inbox);
            threads.add(worker);
        }
    }

    private static void work(int thread, SynchronousQueue<Batch> inbox) {
        while (true) {
            try {
                inbox.take().thread(thread);
            } catch (InterruptedException late) {
                // The interrupt was for a call that returned meanwhile.
            }
        }
    }

    /**
     * Runs the program on each of the instances, with the arguments that were prepared for it, and returns the events in their
     * order. A call that does not return is pending.
     */
    List<List<Event>> run(List<Object> instances, List<List<List<Invocation>>> prepared) throws InterruptedException {
        List<Run> runs = new ArrayList<>();
        for (int i = 0; i < instances.size(); i++) {
            runs.add(new Run(instances.get(i), prepared.get(i)));
        }
        Batch batch = new Batch(runs);
        for (SynchronousQueue<Batch> inbox : inboxes) {
            inbox.put(batch);
        }
        int ended = 0;
        while (!batch.done.await(blockedMillis, TimeUnit.MILLISECONDS)) {
            if (batch.ended.get() == ended) {
                interrupt(batch, ended);
            }
            ended = batch.ended.get();
        }
        return runs.stream().map(run -> Arrays.asList(run.events).subList(0, run.clock.get())).toList();
    }

    /**
     * Interrupts all calls until a thread goes on. Those that run are among them, since a call may also wait without sleeping: take() of
     * an empty LinkedTransferQueue does so for ever in OpenJDK 17 if another consumer gave up before it.
     */
    private void interrupt(Batch batch, int ended) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(INTERRUPT_SECONDS);
        while (batch.ended.get() == ended) {
            threads.forEach(Thread::interrupt);
            if (System.nanoTime() > end) {
                throw new IllegalStateException("a call neither returned nor reacted to an interrupt");
            }
            Thread.sleep(1);
        }
    }
}
