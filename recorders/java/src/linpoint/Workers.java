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
    private static final long INTERRUPT_SECONDS = 10;

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

    private final class Run {
        final Object instance;
        final List<List<Invocation>> program;
        final Event[] events;
        final AtomicInteger clock = new AtomicInteger();
        final AtomicInteger missing;
        final CountDownLatch done;

        Run(Object instance, List<List<Invocation>> program) {
            this.instance = instance;
            this.program = program;
            this.events = new Event[2 * program.stream().mapToInt(List::size).sum()];
            this.missing = new AtomicInteger(program.size());
            this.done = new CountDownLatch(program.size());
        }

        /** Makes the calls of one thread when all threads are ready. */
        void thread(int thread) {
            // An interrupt that came too late for the run before.
            Thread.interrupted();
            missing.decrementAndGet();
            while (missing.get() > 0) {
                Thread.yield();
            }
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
            } finally {
                done.countDown();
            }
        }
    }

    private final Answers answers;
    private final Pauses pauses;
    private final long blockedMillis;
    private final List<SynchronousQueue<Run>> inboxes = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    Workers(int count, Answers answers, Pauses pauses, long blockedMillis) {
        this.answers = answers;
        this.pauses = pauses;
        this.blockedMillis = blockedMillis;
        for (int i = 0; i < count; i++) {
            int thread = i;
            SynchronousQueue<Run> inbox = new SynchronousQueue<>();
            Thread worker = new Thread(() -> work(thread, inbox), "worker " + thread);
            worker.setDaemon(true);
            worker.start();
            inboxes.add(inbox);
            threads.add(worker);
        }
    }

    private static void work(int thread, SynchronousQueue<Run> inbox) {
        while (true) {
            try {
                inbox.take().thread(thread);
            } catch (InterruptedException late) {
                // The interrupt was for a call that returned meanwhile.
            }
        }
    }

    /** Runs the program on the instance and returns the events in their order. A call that does not return is pending. */
    List<Event> run(Object instance, List<List<Invocation>> program) throws InterruptedException {
        pauses.choose();
        Run run = new Run(instance, program);
        for (SynchronousQueue<Run> inbox : inboxes) {
            inbox.put(run);
        }
        if (!run.done.await(blockedMillis, TimeUnit.MILLISECONDS)) {
            interrupt(run);
        }
        return Arrays.asList(run.events).subList(0, run.clock.get());
    }

    /** Interrupts the calls that wait, until all threads are done. */
    private void interrupt(Run run) throws InterruptedException {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(INTERRUPT_SECONDS);
        while (!run.done.await(1, TimeUnit.MILLISECONDS)) {
            for (Thread thread : threads) {
                if (thread.getState() != Thread.State.RUNNABLE) {
                    thread.interrupt();
                }
            }
            if (System.nanoTime() > end) {
                throw new IllegalStateException("a call neither returned nor reacted to an interrupt");
            }
        }
    }
}
