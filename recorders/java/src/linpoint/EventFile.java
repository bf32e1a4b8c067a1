package linpoint;

import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A file that has each event before the program goes on. The order of lines is that of time, since the clock is read under the lock, and one
 * call of the system writes a line, so that a program which is killed leaves whole lines.
 */
final class EventFile implements Closeable {
    private final OutputStream file;
    private final long start = System.nanoTime();
    private IOException failure;

    EventFile(Path path, Map<String, Object> header) throws IOException {
        // It is not buffered.
        file = Files.newOutputStream(path, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
        header.put("clock", origin());
        file.write((Json.text(header) + "\n").getBytes(StandardCharsets.US_ASCII));
    }

    /** How time 0 of the file relates to other clocks, in nanoseconds. */
    private Map<String, Object> origin() {
        long before = System.nanoTime();
        Instant now = Instant.now();
        long after = System.nanoTime();
        Map<String, Object> origin = new LinkedHashMap<>();
        origin.put("unix", now.getEpochSecond() * 1_000_000_000 + now.getNano() - (before - start));
        // The time of day was read at some moment between the two, and may be given in microseconds.
        origin.put("error", after - before + 1_000);
        String machine = machine(after);
        if (machine != null) {
            origin.put("monotonic", start);
            origin.put("machine", machine);
        }
        return origin;
    }

    /**
     * The name of the clock that {@code System.nanoTime} reads, if it is the monotonic clock of the system, which all processes share: that
     * counts from the boot of the machine, unless it has slept since.
     */
    private static String machine(long nanoTime) {
        try {
            double uptime = Double.parseDouble(Files.readString(Path.of("/proc/uptime")).split(" ")[0]);
            if (Math.abs(nanoTime / 1e9 - uptime) > 0.5) {
                return null;
            }
            String boot = Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).trim();
            return boot + " " + Files.readSymbolicLink(Path.of("/proc/self/ns/time"));
        } catch (IOException | NumberFormatException other) {
            return null;
        }
    }

    /** Writes an event that happens now, of which the last bracket and the time are missing. */
    synchronized void write(String json) {
        if (failure != null) {
            return;
        }
        long now = System.nanoTime() - start;
        try {
            file.write((json + ",\"time\":" + now + "}\n").getBytes(StandardCharsets.US_ASCII));
        } catch (IOException error) {
            failure = error;
        }
    }

    @Override
    public synchronized void close() throws IOException {
        file.close();
        if (failure != null) {
            throw failure;
        }
    }
}
