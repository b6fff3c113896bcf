package slotwise.stormpeer;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.apache.storm.utils.VersionInfo;

/**
 * Answers requests, one JSON object a line on stdin, with one JSON object a line on stdout.
 *
 * <p>The first line that it writes is a greeting that names the Storm release it links. See
 * {@link Request} for what a request holds and {@link Answer} for what comes back.
 */
public final class Main {
    private Main() {
    }

    /** Runs until stdin ends. */
    public static void main(String[] args) throws IOException {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        // Whatever a library prints must not stand between the answers.
        System.setOut(System.err);
        ObjectMapper json = new ObjectMapper();
        ObjectNode greeting = json.createObjectNode();
        greeting.put("storm", VersionInfo.getVersion());
        greeting.put("java", System.getProperty("java.version"));
        write(out, json, greeting);
        BufferedReader in =
            new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            write(out, json, answer(json, line));
        }
        // Storm's scheduler leaves a thread behind where a topology was out of time.
        System.exit(0);
    }

    private static ObjectNode answer(ObjectMapper json, String line) {
        try {
            return run(new Request(json.readTree(line)));
        } catch (IOException | RuntimeException error) {
            error.printStackTrace();
            return json.createObjectNode().put("error", error.toString());
        }
    }

    /** Schedules as often as asked, each time from the same state; answers for the last time. */
    private static ObjectNode run(Request request) {
        List<Double> seconds = new ArrayList<>();
        ObjectNode answer = null;
        for (int index = 0; index < request.runs(); index++) {
            answer = Rounds.once(request, seconds);
        }
        if (answer == null) {
            throw new IllegalArgumentException("runs: must be at least 1");
        }
        seconds.forEach(answer.putArray("seconds")::add);
        return answer;
    }

    private static void write(PrintStream out, ObjectMapper json, ObjectNode object)
        throws IOException {
        out.println(json.writeValueAsString(object));
        out.flush();
    }
}
