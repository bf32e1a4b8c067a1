package linpoint;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import linpoint.Subject.Call;

/**
 * What the driver calls: a class, the arguments of its constructor, its methods, and how arguments are made.
 *
 * <pre>
 * {"class": "java.util.concurrent.CopyOnWriteArrayList",
 *  "constructor": [],
 *  "elements": "stepped",
 *  "core": ["add(x)", "get(x)"],
 *  "others": ["addAll(c)", "removeIf(p)"],
 *  "arguments": {"p": {"function": ["even", "odd"]}}}
 * </pre>
 *
 * Core methods are those that must be atomic. Where any object may be an element, {@code stepped} elements pause whenever the
 * class looks at them; without it they are {@code integers}, or {@code longs}. An argument is named after one of {@code arguments}, or of those
 * that need no description: {@code x}, {@code y}, {@code k}, {@code l}, {@code v} and {@code w} are integers, {@code c} is a
 * collection and {@code m} a map of them.
 */
record Description(String type, List<Object> constructor, Subject.Elements elements, List<Method> core, List<Method> others,
        Map<String, Object> arguments) {
    /** A method, and what makes each of its arguments. */
    record Method(String name, List<String> parameters) {
        static Method of(Object signature) {
            String text = (String) signature;
            int open = text.indexOf('(');
            if (open < 1 || !text.endsWith(")")) {
                throw new IllegalArgumentException("a method is written as \"name(x, y)\", not " + text);
            }
            String inner = text.substring(open + 1, text.length() - 1).strip();
            List<String> parameters = inner.isEmpty() ? List.of() : Arrays.stream(inner.split(",")).map(String::strip).toList();
            return new Method(text.substring(0, open), parameters);
        }

        @Override
        public String toString() {
            return name + "(" + String.join(", ", parameters) + ")";
        }
    }

    private static final List<String> KEYS = List.of("class", "constructor", "elements", "core", "others", "arguments");
    /** The arguments that are elements, keys or values. */
    private static final List<String> ELEMENTS = List.of("x", "y", "k", "l", "v", "w");

    static Description read(Path path) throws IOException {
        Map<?, ?> json = (Map<?, ?>) Json.read(Files.readString(path));
        for (Object key : json.keySet()) {
            if (!KEYS.contains(key)) {
                throw new IllegalArgumentException(path + ": unknown key " + key + "; there are " + KEYS);
            }
        }
        Map<String, Object> arguments = new LinkedHashMap<>();
        Map<?, ?> integer = Map.of("integer", List.of(0, 2));
        ELEMENTS.forEach(name -> arguments.put(name, integer));
        arguments.put("c", Map.of("list", "x", "length", List.of(0, 3)));
        arguments.put("m", Map.of("map", List.of("k", "v"), "length", List.of(0, 3)));
        items(json, "arguments", Map.of()).forEach((name, generator) -> arguments.put((String) name, generator));
        return new Description((String) json.get("class"), constructor(json), elements(json),
            methods(json, "core"), methods(json, "others"), arguments);
    }

    private static List<Object> constructor(Map<?, ?> json) {
        return json.get("constructor") instanceof List<?> list ? new ArrayList<>(list) : List.of();
    }

    private static Subject.Elements elements(Map<?, ?> json) {
        return Subject.Elements.named(json.get("elements") instanceof String text ? text : "integers");
    }

    private static Map<?, ?> items(Map<?, ?> json, String key, Map<?, ?> otherwise) {
        return json.get(key) instanceof Map<?, ?> map ? map : otherwise;
    }

    private static List<Method> methods(Map<?, ?> json, String key) {
        return json.get(key) instanceof List<?> list ? list.stream().map(Method::of).toList() : List.of();
    }

    /** Returns the same with another constructor, another range of the integers, other values of elements, or other objects for integers. */
    Description with(List<Object> constructor, List<Object> integers, List<Object> values, Subject.Elements elements) {
        Map<String, Object> changed = new LinkedHashMap<>(arguments);
        if (integers != null) {
            changed.replaceAll((name, generator) ->
                generator instanceof Map<?, ?> map && map.containsKey("integer") ? Map.of("integer", integers) : generator);
        }
        if (values != null) {
            ELEMENTS.forEach(name -> changed.put(name, Map.of("one_of", values)));
        }
        return new Description(type, constructor == null ? this.constructor : constructor, elements == null ? this.elements : elements,
            core, others, changed);
    }

    /** Returns a call of this method with random arguments. */
    Call call(Method method, Random random) {
        return new Call(method.name(), method.parameters().stream().map(name -> argument(name, random)).toList());
    }

    /** Returns a random argument of this name, as a history has it. */
    private Object argument(String name, Random random) {
        if (!(arguments.get(name) instanceof Map<?, ?> generator)) {
            throw new IllegalArgumentException("the description does not say what argument " + name + " is");
        }
        if (generator.get("integer") instanceof List<?> range) {
            return between(range, random);
        }
        if (generator.get("one_of") instanceof List<?> values) {
            return pick(values, random);
        }
        if (generator.get("function") instanceof List<?> names) {
            return Map.of("function", pick(names, random));
        }
        int length = generator.get("length") instanceof List<?> range ? between(range, random) : 2;
        if (generator.get("list") instanceof String element) {
            return Stream.generate(() -> argument(element, random)).limit(length).toList();
        }
        if (generator.get("map") instanceof List<?> pair) {
            Map<Object, Object> map = new LinkedHashMap<>();
            for (int i = 0; i < length; i++) {
                map.put(argument((String) pair.get(0), random), argument((String) pair.get(1), random));
            }
            boolean hasIntegers = arguments.get(pair.get(0)) instanceof Map<?, ?> keys && keys.containsKey("integer");
            return hasIntegers && !map.containsValue(null) ? object(map) : pairs(map);
        }
        throw new IllegalArgumentException(
            "argument " + name + " is neither integer, one_of, function, list nor map: " + Json.text(generator));
    }

    /** A map with integers as keys, as an object. */
    private static Map<String, Object> object(Map<Object, Object> map) {
        Map<String, Object> object = new LinkedHashMap<>();
        map.forEach((key, value) -> object.put(String.valueOf(key), value));
        return object;
    }

    /** Any map, as the list of its pairs in its order. */
    private static List<Object> pairs(Map<Object, Object> map) {
        List<Object> pairs = new ArrayList<>();
        map.forEach((key, value) -> pairs.add(Arrays.asList(key, value)));
        return pairs;
    }

    private static int between(List<?> range, Random random) {
        int low = (Integer) range.get(0);
        return low + random.nextInt((Integer) range.get(1) - low + 1);
    }

    static <T> T pick(List<T> values, Random random) {
        return values.get(random.nextInt(values.size()));
    }
}
