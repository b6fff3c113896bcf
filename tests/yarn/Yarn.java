import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.hdfs.MiniDFSCluster;
import org.apache.hadoop.yarn.conf.YarnConfiguration;
import org.apache.hadoop.yarn.server.MiniYARNCluster;

/**
 * YARN and HDFS, of as many nodes as said, until stdin ends; how clients reach them goes into a folder.
 */
public class Yarn {
    public static void main(String[] arguments) {
        try {
            serve(Path.of(arguments[0]), Integer.parseInt(arguments[1]));
        } catch (Throwable failure) {
            failure.printStackTrace();
            System.exit(1);
        }
        System.exit(0);
    }

    private static void serve(Path folder, int nodes) throws IOException {
        Configuration settings = new YarnConfiguration();
        settings.set(MiniDFSCluster.HDFS_MINIDFS_BASEDIR, folder.resolve("hdfs").toString());
        settings.set("yarn.scheduler.capacity.root.queues", "default");
        settings.set("yarn.scheduler.capacity.root.default.capacity", "100");
        try (var hdfs = new MiniDFSCluster.Builder(settings).build();
             var yarn = new MiniYARNCluster("yarn", nodes, 1, 1)) {
            yarn.init(settings);
            yarn.start();
            Configuration used = yarn.getConfig();
            write(folder.resolve("core-site.xml"), used, FileSystem.FS_DEFAULT_NAME_KEY);
            write(folder.resolve("yarn-site.xml"), used, YarnConfiguration.RM_ADDRESS,
                YarnConfiguration.RM_SCHEDULER_ADDRESS, YarnConfiguration.RM_WEBAPP_ADDRESS);
            System.out.println("ready");
            System.in.transferTo(OutputStream.nullOutputStream());
        }
    }

    private static void write(Path path, Configuration used, String... keys) throws IOException {
        Configuration written = new Configuration(false);
        for (String key : keys) {
            written.set(key, used.get(key));
        }
        try (OutputStream file = Files.newOutputStream(path)) {
            written.writeXml(file);
        }
    }
}
