package linpoint;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import linpoint.Workers.Event;

/** Changes one answer of a history, for tests that a wrong answer is noticed. */
final class Falsified {
    private Falsified() {}

    /** Returns the events with one answer changed, or null if no call answers anything. */
    static List<Event> of(List<Event> events, Random random) {
        List<Integer> answers = IntStream.range(0, events.size())
            .filter(i -> events.get(i).answer() != null && !events.get(i).answer().equals(Answers.nothing()))
            .boxed().collect(Collectors.toCollection(ArrayList::new));
        if (answers.isEmpty()) {
            return null;
        }
        Collections.shuffle(answers, random);
        int changed = answers.get(0);
        Event event = events.get(changed);
        Object wrong = other(Json.read(event.answer().json()), random);
        List<Event> falsified = new ArrayList<>(events);
        falsified.set(changed, new Event(event.thread(), event.position(), new Json.Raw(Json.text(wrong))));
        return falsified;
    }

    /** Another answer of the same kind. */
    private static Object other(Object answer, Random random) {
        if (answer instanceof Boolean truth) {
            return !truth;
        }
        if (answer instanceof Integer number) {
            return number + (random.nextBoolean() ? 1 : -1);
        }
        if (answer instanceof List<?> list) {
            return list.isEmpty() ? List.of(0) : list.subList(0, list.size() - 1);
        }
        if (!(answer instanceof String text)) {
            return 0;
        }
        if (text.equals("true") || text.equals("false")) {
            return text.equals("true") ? "false" : "true";
        }
        if (text.matches("-?[0-9]{1,9}")) {
            return String.valueOf(Integer.parseInt(text) + (random.nextBoolean() ? 1 : -1));
        }
        return switch (text) {
            // An empty string need not be quoted, so without it the answer would be the same.
            case "[]", "[\"\"]" -> "[0]";
            case "{}" -> "{0=0}";
            case "null" -> "0";
            case "java.lang.NullPointerException" -> "java.lang.IllegalStateException";
            default -> text.startsWith("[") || text.startsWith("{") ? shorter(text) : "java.lang.NullPointerException";
        };
    }

    /** The text of a list or map without its first element. */
    private static String shorter(String text) {
        int comma = text.indexOf(',');
        return comma < 0 ? text.charAt(0) + text.substring(text.length() - 1) : text.charAt(0) + text.substring(comma + 1).strip();
    }
}
