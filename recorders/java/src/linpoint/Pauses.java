package linpoint;

import java.util.concurrent.ThreadLocalRandom;

/** Short random pauses, by which operations come to overlap. */
final class Pauses {
    private Pauses() {}

    /** Pauses, or not: most pauses are shorter than a microsecond, some let another thread go on. */
    static void random() {
        int choice = ThreadLocalRandom.current().nextInt(16);
        if (choice == 0) {
            Thread.yield();
        } else if (choice < 8) {
            for (int i = ThreadLocalRandom.current().nextInt(1 << choice); i > 0; i--) {
                Thread.onSpinWait();
            }
        }
    }
}
