package slotwise.storm;

import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.storm.shade.net.minidev.json.parser.JSONParser;
import org.apache.storm.shade.net.minidev.json.parser.ParseException;

/**
 * The plan of one topology: which worker each executor belongs to.
 *
 * <p>A file of two lines in the folder of plans: the plan in JSON, and its SHA-256 in hexadecimal
 * digits, so that a file cut off anywhere is none. {@code executors} has for each component the
 * node and the label of the worker of each executor, in the order of their tasks. Executors with
 * the same node and label share a worker; a label that is a free port of the node is its port.
 */
final class Plan {
    static final String FORMAT = "slotwise.storm-plan/1";
    private static final int MOST_BYTES = 64 << 20;

    /** A worker: a node and a label. */
    record Worker(String node, long label) {
    }

    private final Map<String, List<Worker>> workers;

    private Plan(Map<String, List<Worker>> workers) {
        this.workers = workers;
    }

    /** Component to the workers of its executors. */
    Map<String, List<Worker>> workers() {
        return workers;
    }

    /** The file of a topology's plan: its name holds no path, whatever the topology's does. */
    static Path file(String folder, String topology) {
        String name = URLEncoder.encode(topology, StandardCharsets.UTF_8).replace(".", "%2E");
        return Path.of(folder, name + ".plan");
    }

    /**
     * Reads a topology's plan.
     *
     * @param id Storm's id of the running topology; a plan for another is refused
     * @param nowSeconds seconds since 1970; a plan that has expired is refused
     * @throws Unusable when there is no plan that can be followed
     */
    static Plan read(String folder, String topology, String id, long nowSeconds) throws Unusable {
        Map<?, ?> data = parse(verified(file(folder, topology)));
        expect("format", FORMAT, data.get("format"));
        expect("topology", topology, data.get("topology"));
        expect("id", id, data.get("id"));
        if (!(data.get("expires") instanceof Number expires) || expires.longValue() < nowSeconds) {
            throw new Unusable("the plan has expired");
        }
        if (!(data.get("executors") instanceof Map<?, ?> executors)) {
            throw new Unusable("the plan has no executors");
        }
        Map<String, List<Worker>> workers = new LinkedHashMap<>();
        for (Map.Entry<?, ?> entry : executors.entrySet()) {
            if (!(entry.getValue() instanceof List<?> places)) {
                throw new Unusable("the plan has no places for " + entry.getKey());
            }
            List<Worker> own = new ArrayList<>();
            for (Object place : places) {
                own.add(worker(place));
            }
            workers.put(String.valueOf(entry.getKey()), own);
        }
        return new Plan(workers);
    }

    private static Worker worker(Object place) throws Unusable {
        if (place instanceof List<?> pair && pair.size() == 2
            && pair.get(0) instanceof String node && pair.get(1) instanceof Number label) {
            return new Worker(node, label.longValue());
        }
        throw new Unusable("the plan has a place that is not [node, worker]: " + place);
    }

    /** The first line of a file, which the second confirms. */
    private static String verified(Path file) throws Unusable {
        byte[] bytes;
        try {
            if (!Files.isRegularFile(file)) {
                throw new Unusable("there is no plan");
            }
            try (InputStream in = Files.newInputStream(file)) {
                bytes = in.readNBytes(MOST_BYTES + 1);
            }
        } catch (IOException | SecurityException failed) {
            throw new Unusable("the plan cannot be read: " + failed);
        }
        if (bytes.length > MOST_BYTES) {
            throw new Unusable("the plan has more than " + MOST_BYTES + " bytes");
        }
        String[] lines = new String(bytes, StandardCharsets.UTF_8).split("\n", -1);
        if (lines.length != 3 || !lines[2].isEmpty() || !lines[1].equals(digest(lines[0]))) {
            throw new Unusable("the plan is damaged: its digest does not match");
        }
        return lines[0];
    }

    private static Map<?, ?> parse(String text) throws Unusable {
        try {
            Object data = new JSONParser(JSONParser.MODE_RFC4627).parse(text);
            if (data instanceof Map<?, ?> map) {
                return map;
            }
            throw new Unusable("the plan is not an object");
        } catch (ParseException failed) {
            throw new Unusable("the plan is not JSON");
        }
    }

    private static String digest(String text) {
        try {
            byte[] hash = MessageDigest.getInstance("SHA-256")
                .digest(text.getBytes(StandardCharsets.UTF_8));
            StringBuilder digits = new StringBuilder();
            for (byte one : hash) {
                digits.append(String.format("%02x", one));
            }
            return digits.toString();
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    private static void expect(String field, Object wanted, Object found) throws Unusable {
        if (!wanted.equals(found)) {
            throw new Unusable("the plan is for " + field + " " + found + ", not " + wanted);
        }
    }

    /** Why a plan is not followed, in one line. */
    static final class Unusable extends Exception {
        private static final long serialVersionUID = 1;

        Unusable(String why) {
            super(why.replace('\n', ' ').replace('\r', ' '));
        }
    }
}
