package linpoint;

import java.util.concurrent.ThreadLocalRandom;

/** Short random pauses, by which operations come to overlap. */
final class Pauses implements Runnable {
    /** One in so many pauses lets another thread go on; none if this is 0. */
    private volatile int yields;

    /** Chooses how often the next run pauses: never, seldom, or often. */
    void choose() {
        yields = new int[] {0, 16, 3}[ThreadLocalRandom.current().nextInt(3)];
    }

    /** Pauses, or not. Most pauses are shorter than a microsecond. */
    @Override
    public void run() {
        int every = yields;
        if (every == 0) {
            return;
        }
        int choice = ThreadLocalRandom.current().nextInt(every);
        if (choice == 0) {
            Thread.yield();
        } else {
            for (int i = ThreadLocalRandom.current().nextInt(1 << Math.min(choice, 7)); i > 0; i--) {
                Thread.onSpinWait();
            }
        }
    }
}
