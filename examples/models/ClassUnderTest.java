import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.reflect.Array;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A model whose answers come from a Java class, used by one thread: the class under test is its own specification.
 *
 * <pre>
 * linpoint check h.jsonl --model-cmd 'java ClassUnderTest.java java.util.concurrent.ConcurrentLinkedDeque'
 * linpoint check h.jsonl --model-cmd 'java -cp target/classes ClassUnderTest.java --state toString org.example.Cache'
 * </pre>
 *
 * A state is the sequence of calls that led there. A step replays them on a new instance, which a constructor without
 * parameters makes, and then makes its own call. Two sequences are two states, even if no call can tell them apart, so that
 * the search of a long history takes long. {@code --state toString} takes states for equal whose instances have the same
 * text; {@code --state equals} those whose instances are equal. That is right if the text, or equals, tells all that later
 * calls can see.
 *
 * The argument of a call is null for none and a list for several. The answer of a call that throws is the name of the
 * exception, without its package. {@code --answers text} writes answers as the histories of Violat have them: all are texts,
 * such as "true", "[1,2]", "null" and "java.util.NoSuchElementException". A call that does not return within {@code --blocked} milliseconds, 200 at first, is blocked.
 * The protocol is described in docs/model-programs.md.
 */
public final class ClassUnderTest {
    /** What makes two states one. */
    enum Identity { CALLS, TO_STRING, EQUALS }

    record Call(String method, Object argument) {}

    private final Class<?> subject;
    private final Identity identity;
    private final long blockedMillis;
    /** Whether answers are texts. */
    private final boolean answersText;
    /** By number: the calls that lead to the state. */
    private final List<List<Call>> states = new ArrayList<>();
    private final Map<Object, Integer> numbers = new HashMap<>();
    private final ExecutorService callers = Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    private ClassUnderTest(Class<?> subject, Identity identity, long blockedMillis, boolean answersText) {
        this.subject = subject;
        this.identity = identity;
        this.blockedMillis = blockedMillis;
        this.answersText = answersText;
    }

    public static void main(String[] args) throws Exception {
        Identity identity = Identity.CALLS;
        long blockedMillis = 200;
        boolean answersText = false;
        int i = 0;
        for (; i + 1 < args.length && args[i].startsWith("--"); i += 2) {
            switch (args[i] + " " + args[i + 1]) {
                case "--state calls" -> identity = Identity.CALLS;
                case "--state toString" -> identity = Identity.TO_STRING;
                case "--state equals" -> identity = Identity.EQUALS;
                case "--answers json" -> answersText = false;
                case "--answers text" -> answersText = true;
                default -> {
                    if (!args[i].equals("--blocked")) {
                        throw new IllegalArgumentException("unknown option " + args[i] + " " + args[i + 1]);
                    }
                    blockedMillis = Long.parseLong(args[i + 1]);
                }
            }
        }
        if (i + 1 != args.length) {
            System.err.println("usage: java ClassUnderTest.java [--state calls|toString|equals] [--answers json|text]"
                + " [--blocked MILLISECONDS] CLASS");
            System.exit(2);
        }
        new ClassUnderTest(Class.forName(args[i]), identity, blockedMillis, answersText).run();
    }

    private void run() throws Exception {
        // What the class prints must not get between the answers.
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        in.readLine();
        Map<String, Object> hello = new LinkedHashMap<>();
        hello.put("linpoint", 1);
        hello.put("init", number(List.of(), instance(List.of())));
        hello.put("methods", Arrays.stream(subject.getMethods()).map(Method::getName).distinct().sorted().toList());
        hello.put("answers", List.of("describe"));
        write(out, hello);
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            Map<?, ?> question = (Map<?, ?>) new Json(line).value();
            Map<String, Object> answer = new LinkedHashMap<>();
            answer.put("id", question.get("id"));
            try {
                if (question.get("describe") instanceof List<?> numbers) {
                    answer.put("describe", numbers.stream().map(this::describe).toList());
                } else {
                    List<Object> steps = new ArrayList<>();
                    for (Object step : (List<?>) question.get("steps")) {
                        steps.add(step((Map<?, ?>) step));
                    }
                    answer.put("steps", steps);
                }
            } catch (NoSuchMethodException error) {
                answer.put("error", error.getMessage());
            }
            write(out, answer);
        }
    }

    private static void write(PrintStream out, Object answer) {
        out.print(Json.text(answer) + "\n");
        out.flush();
    }

    /** A new instance on which these calls were made. */
    private Object instance(List<Call> calls) {
        try {
            Object instance = subject.getConstructor().newInstance();
            for (Call call : calls) {
                invoke(instance, call);
            }
            return instance;
        } catch (ReflectiveOperationException error) {
            throw new IllegalStateException(error);
        }
    }

    /** The number of the state after these calls, which led this instance there. */
    private int number(List<Call> calls, Object instance) {
        Object key = switch (identity) {
            case CALLS -> calls;
            case TO_STRING -> instance.toString();
            case EQUALS -> instance;
        };
        return numbers.computeIfAbsent(key, unused -> {
            states.add(calls);
            return states.size() - 1;
        });
    }

    private String describe(Object number) {
        List<Call> calls = states.get(((Number) number).intValue());
        if (identity == Identity.TO_STRING) {
            return instance(calls).toString();
        }
        List<String> texts = calls.stream().map(call -> call.method() + "(" + Json.text(call.argument()) + ")").toList();
        return "that after " + (texts.isEmpty() ? "no call" : String.join(", ", texts));
    }

    /** The outcomes of a step: one pair of answer and next state, or none if the call is blocked. */
    private List<Object> step(Map<?, ?> step) throws Exception {
        List<Call> calls = states.get(((Number) step.get("state")).intValue());
        Object instance = instance(calls);
        Call call = new Call((String) step.get("method"), step.get("arg"));
        Future<Raw> returned = callers.submit(() -> invoke(instance, call));
        Raw answer;
        try {
            answer = returned.get(blockedMillis, TimeUnit.MILLISECONDS);
        } catch (TimeoutException blocked) {
            returned.cancel(true);
            return List.of();
        } catch (java.util.concurrent.ExecutionException error) {
            throw (Exception) error.getCause();
        }
        List<Call> following = new ArrayList<>(calls);
        following.add(call);
        return List.of(List.of(answer, number(following, instance)));
    }

    /** Makes a call. Its answer is written down at once, since it may be part of the object. */
    private Raw invoke(Object instance, Call call) throws ReflectiveOperationException {
        for (Object[] arguments : argumentLists(call.argument())) {
            Method method = find(call.method(), arguments);
            if (method == null) {
                continue;
            }
            try {
                Object answer = method.invoke(instance, arguments);
                boolean isText = answersText && method.getReturnType() != void.class && !(answer instanceof String);
                return new Raw(isText ? Json.quoted(Json.text(answer)) : Json.text(answer));
            } catch (InvocationTargetException thrown) {
                Class<?> exception = thrown.getCause().getClass();
                return new Raw(Json.quoted(answersText ? exception.getName() : exception.getSimpleName()));
            }
        }
        throw new NoSuchMethodException(
            subject.getName() + " has no public method " + call.method() + "(" + Json.text(call.argument()) + ")");
    }

    /** How the argument of a call may be meant: a list may be several arguments, or one. */
    private static List<Object[]> argumentLists(Object argument) {
        if (argument == null) {
            return List.of(new Object[0], new Object[] {null});
        }
        Object[] one = {argument};
        return argument instanceof List<?> list ? List.of(list.toArray(), one) : List.<Object[]>of(one);
    }

    /** The method that takes these arguments, which are converted to its types. */
    private Method find(String name, Object[] arguments) {
        List<Method> methods = new ArrayList<>();
        for (Method method : subject.getMethods()) {
            if (method.getName().equals(name) && method.getParameterCount() == arguments.length && !method.isBridge()) {
                methods.add(method);
            }
        }
        // As in Java source, remove(1) of a list is remove(int).
        methods.sort(Comparator.comparing((Method method) -> Arrays.asList(method.getParameterTypes()).contains(Object.class))
            .thenComparing(Method::toString));
        for (Method method : methods) {
            Object[] converted = new Object[arguments.length];
            boolean fits = true;
            for (int i = 0; i < arguments.length; i++) {
                converted[i] = convert(arguments[i], method.getParameterTypes()[i]);
                fits &= converted[i] != null || arguments[i] == null && !method.getParameterTypes()[i].isPrimitive();
            }
            if (fits) {
                System.arraycopy(converted, 0, arguments, 0, arguments.length);
                // Public methods of classes that are not public.
                method.setAccessible(method.getDeclaringClass().getModule() == ClassUnderTest.class.getModule());
                return method;
            }
        }
        return null;
    }

    /** The value as this type, or null if it is none. */
    private static Object convert(Object value, Class<?> type) {
        if (value instanceof Number number) {
            boolean isWhole = !(value instanceof Double);
            if (isWhole && (type == int.class || type == Integer.class)) {
                return number.intValue();
            }
            if (isWhole && (type == long.class || type == Long.class)) {
                return number.longValue();
            }
            if (type == double.class || type == Double.class) {
                return number.doubleValue();
            }
        }
        if (type == boolean.class || type == Boolean.class) {
            return value instanceof Boolean ? value : null;
        }
        if ((type == char.class || type == Character.class) && value instanceof String text && text.length() == 1) {
            return text.charAt(0);
        }
        return type.isInstance(value) ? value : null;
    }

    /** JSON that is written as it is. */
    record Raw(String json) {}

    /** Reads JSON: null, Boolean, Integer, Long, Double, String, List and Map. */
    private static final class Json {
        private final String text;
        private int at;

        Json(String text) {
            this.text = text;
        }

        Object value() {
            char first = peek();
            switch (first) {
                case '{' -> {
                    Map<String, Object> map = new LinkedHashMap<>();
                    for (at++; peek() != '}'; skip(',')) {
                        String key = string();
                        skip(':');
                        map.put(key, value());
                    }
                    at++;
                    return map;
                }
                case '[' -> {
                    List<Object> list = new ArrayList<>();
                    for (at++; peek() != ']'; skip(',')) {
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
                    while (at < text.length() && ",]} ".indexOf(text.charAt(at)) < 0) {
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
                    if (!word.matches("-?[0-9]{1,18}")) {
                        return Double.valueOf(word);
                    }
                    long number = Long.parseLong(word);
                    if (number == (int) number) {
                        return (int) number;
                    }
                    return number;
            }
        }

        private char peek() {
            while (text.charAt(at) == ' ') {
                at++;
            }
            return text.charAt(at);
        }

        private void skip(char separator) {
            if (peek() == separator) {
                at++;
            }
        }

        private String string() {
            StringBuilder string = new StringBuilder();
            for (at++; text.charAt(at) != '"'; at++) {
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

        /** The value as JSON: collections, iterators and arrays are lists, and what JSON has no form for is its text. */
        static String text(Object value) {
            if (value instanceof Raw raw) {
                return raw.json();
            }
            if (value instanceof Optional<?> optional) {
                return text(optional.orElse(null));
            }
            if (value instanceof Map<?, ?> map) {
                List<String> pairs = new ArrayList<>();
                map.forEach((key, item) -> pairs.add(quoted(String.valueOf(key)) + ":" + text(item)));
                return "{" + String.join(",", pairs) + "}";
            }
            if (value instanceof Iterator<?> iterator) {
                List<Object> items = new ArrayList<>();
                iterator.forEachRemaining(items::add);
                return text(items);
            }
            if (value instanceof Collection<?> items) {
                return "[" + String.join(",", items.stream().map(Json::text).toList()) + "]";
            }
            if (value != null && value.getClass().isArray()) {
                List<String> items = new ArrayList<>();
                for (int i = 0; i < Array.getLength(value); i++) {
                    items.add(text(Array.get(value, i)));
                }
                return "[" + String.join(",", items) + "]";
            }
            boolean isFinite = !(value instanceof Double number) || Double.isFinite(number);
            if (value == null || value instanceof Boolean || value instanceof Number && isFinite) {
                return String.valueOf(value);
            }
            return quoted(value.toString());
        }

        private static String quoted(String text) {
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
}
