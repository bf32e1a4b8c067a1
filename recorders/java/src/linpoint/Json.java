package linpoint;

import java.lang.reflect.Array;
import java.math.BigInteger;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Reads and writes JSON: null, Boolean, Integer, Long, Double, String, List and Map. */
final class Json {
    private final String text;
    private int at;

    private Json(String text) {
        this.text = text;
    }

    /** JSON that is written as it is. */
    record Raw(String json) {}

    /** Returns the value of a JSON document. */
    static Object read(String text) {
        Json json = new Json(text);
        try {
            Object value = json.value();
            json.blanks();
            if (json.at < text.length()) {
                throw new IllegalArgumentException("more than one value");
            }
            return value;
        } catch (StringIndexOutOfBoundsException | IllegalArgumentException error) {
            throw new IllegalArgumentException("not JSON at character " + json.at + ": " + text, error);
        }
    }

    private Object value() {
        switch (peek()) {
            case '{' -> {
                Map<String, Object> map = new LinkedHashMap<>();
                for (at++; peek() != '}'; separator('}')) {
                    String key = string();
                    expect(':');
                    map.put(key, value());
                }
                at++;
                return map;
            }
            case '[' -> {
                List<Object> list = new ArrayList<>();
                for (at++; peek() != ']'; separator(']')) {
                    list.add(value());
                }
                at++;
                return list;
            }
            case '"' -> {
                return string();
            }
            default -> {
                int start = at;
                while (at < text.length() && ",]} \t\r\n".indexOf(text.charAt(at)) < 0) {
                    at++;
                }
                return word(text.substring(start, at));
            }
        }
    }

    private static Object word(String word) {
        switch (word) {
            case "null":
                return null;
            case "true":
            case "false":
                return word.equals("true");
            default:
                return number(word);
        }
    }

    private static Object number(String word) {
        if (!word.matches("-?[0-9]{1,19}")) {
            return Double.valueOf(word);
        }
        BigInteger number = new BigInteger(word);
        if (number.bitLength() < Integer.SIZE) {
            return number.intValue();
        }
        return number.bitLength() < Long.SIZE ? (Object) number.longValue() : Double.valueOf(word);
    }

    private void blanks() {
        while (at < text.length() && " \t\r\n".indexOf(text.charAt(at)) >= 0) {
            at++;
        }
    }

    private char peek() {
        blanks();
        return text.charAt(at);
    }

    private void expect(char expected) {
        if (peek() != expected) {
            throw new IllegalArgumentException("expected " + expected);
        }
        at++;
    }

    /** Skips a comma, unless the list or map ends here. */
    private void separator(char end) {
        if (peek() != end) {
            expect(',');
        }
    }

    private String string() {
        StringBuilder string = new StringBuilder();
        expect('"');
        for (; text.charAt(at) != '"'; at++) {
            char next = text.charAt(at);
            if (next != '\\') {
                string.append(next);
                continue;
            }
            char escaped = text.charAt(++at);
            int known = "bfnrt".indexOf(escaped);
            if (escaped == 'u') {
                string.append((char) Integer.parseInt(text.substring(at + 1, at + 5), 16));
                at += 4;
            } else {
                string.append(known < 0 ? escaped : "\b\f\n\r\t".charAt(known));
            }
        }
        at++;
        return string.toString();
    }

    /**
     * Returns the value as JSON. Collections and arrays are lists. A map with a key that is no String is a list of pairs.
     * Anything that JSON has no form for is its text.
     */
    static String text(Object value) {
        if (value instanceof Raw raw) {
            return raw.json();
        }
        if (value instanceof Map<?, ?> map) {
            return text(map);
        }
        if (value instanceof Collection<?> items) {
            return "[" + String.join(",", items.stream().map(Json::text).toList()) + "]";
        }
        if (value != null && value.getClass().isArray()) {
            List<Object> items = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) {
                items.add(Array.get(value, i));
            }
            return text(items);
        }
        boolean isFinite = !(value instanceof Double || value instanceof Float) || Double.isFinite(((Number) value).doubleValue());
        if (value == null || value instanceof Boolean || value instanceof Number && isFinite) {
            return String.valueOf(value);
        }
        return quoted(value.toString());
    }

    private static String text(Map<?, ?> map) {
        boolean hasTextKeys = map.keySet().stream().allMatch(key -> key instanceof String);
        List<String> pairs = new ArrayList<>();
        map.forEach((key, item) ->
            pairs.add(hasTextKeys ? text(key) + ":" + text(item) : "[" + text(key) + "," + text(item) + "]"));
        String all = String.join(",", pairs);
        return hasTextKeys ? "{" + all + "}" : "[" + all + "]";
    }

    static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (char next : text.toCharArray()) {
            if (next == '"' || next == '\\') {
                quoted.append('\\').append(next);
            } else if (next < ' ' || next > '~') {
                quoted.append(String.format("\\u%04x", (int) next));
            } else {
                quoted.append(next);
            }
        }
        return quoted.append('"').toString();
    }
}
