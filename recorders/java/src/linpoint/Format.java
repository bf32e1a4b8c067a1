package linpoint;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import linpoint.Subject.Call;
import linpoint.Workers.Event;

/** How the driver writes histories. */
enum Format {
    /** One line for each history, as Violat writes it. */
    VIOLAT {
        @Override
        String written(Description description, Program program, List<Event> events, int count, int total) {
            Map<String, Object> schema = new LinkedHashMap<>();
            schema.put("class", description.type());
            schema.put("arguments", description.constructor());
            List<Object> written = new ArrayList<>();
            for (Event event : events) {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("kind", event.answer() == null ? "call" : "return");
                line.put("sid", event.thread());
                line.put("invocation", invocation(description, program, event));
                if (event.answer() != null && !event.answer().equals(Answers.nothing())) {
                    line.put("value", event.answer());
                }
                written.add(line);
            }
            Map<String, Object> history = new LinkedHashMap<>();
            history.put("schema", schema);
            history.put("events", written);
            history.put("frequency", Map.of("count", count, "total", total));
            return Json.text(history) + "\n";
        }
    },

    /** Events as linpoint writes them, after a header. */
    JSONL {
        @Override
        String written(Description description, Program program, List<Event> events, int count, int total) {
            Map<String, Object> header = new LinkedHashMap<>();
            header.put("linpoint", 1);
            header.put("type", description.type());
            if (description.constructor().size() == 1) {
                header.put("params", Map.of("capacity", description.constructor().get(0)));
            }
            header.put("note", count + " of " + total + " runs");
            StringBuilder history = new StringBuilder(Json.text(header)).append('\n');
            for (Event event : events) {
                Map<String, Object> line = new LinkedHashMap<>();
                line.put("process", event.thread());
                line.put("event", event.answer() == null ? "call" : "return");
                if (event.answer() == null) {
                    Call call = program.threads().get(event.thread()).get(event.position());
                    line.put("method", call.method());
                    line.put("arg", call.argument());
                } else {
                    line.put("ret", event.answer());
                }
                history.append(Json.text(line)).append('\n');
            }
            return history.toString();
        }
    };

    /** Returns a history that {@code count} of {@code total} runs of the program gave. */
    abstract String written(Description description, Program program, List<Event> events, int count, int total);

    private static Map<String, Object> invocation(Description description, Program program, Event event) {
        List<List<Call>> threads = program.threads();
        int before = threads.subList(0, event.thread()).stream().mapToInt(List::size).sum();
        Call call = threads.get(event.thread()).get(event.position());
        List<?> arguments = (List<?>) call.argument();
        Map<String, Object> method = new LinkedHashMap<>();
        method.put("name", call.method());
        method.put("trusted", isCore(call.method(), arguments.size(), description));
        Map<String, Object> invocation = new LinkedHashMap<>();
        invocation.put("id", before + event.position());
        invocation.put("method", method);
        invocation.put("arguments", arguments);
        return invocation;
    }

    private static boolean isCore(String name, int arguments, Description description) {
        return description.core().stream()
            .anyMatch(method -> method.name().equals(name) && method.parameters().size() == arguments);
    }
}
