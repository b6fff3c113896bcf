package slotwise.storm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.TreeMap;
import org.apache.storm.scheduler.Cluster;
import org.apache.storm.shade.net.minidev.json.JSONObject;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The racks of hosts, which Nimbus knows and its interface does not say, as a file. */
final class Racks {
    /** The setting of Nimbus that names the file. */
    static final String FILE = "slotwise.racks";
    private static final Logger LOG = LoggerFactory.getLogger(Racks.class);
    private static String written = "";

    private Racks() {
    }

    /** Writes host to rack where it has changed, whole or not at all; a failure is one log line. */
    static synchronized void write(Map<String, Object> conf, Cluster cluster) {
        if (!(conf.get(FILE) instanceof String name) || name.isEmpty()) {
            return;
        }
        Map<String, String> rackOfHost = new TreeMap<>();
        cluster.getNetworkTopography().forEach(
            (rack, hosts) -> hosts.forEach(host -> rackOfHost.put(host, rack)));
        String text = JSONObject.toJSONString(rackOfHost) + "\n";
        if (text.equals(written)) {
            return;
        }
        written = text;
        Path file = Path.of(name).toAbsolutePath();
        try {
            Path part = file.resolveSibling("." + file.getFileName() + ".part");
            try {
                Files.writeString(part, text, StandardCharsets.UTF_8);
                Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
            } finally {
                Files.deleteIfExists(part);
            }
        } catch (IOException | SecurityException failed) {
            LOG.warn("slotwise: the racks cannot be written to {}: {}", file, failed.toString());
        }
    }
}
