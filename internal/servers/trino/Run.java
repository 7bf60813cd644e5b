import io.trino.plugin.memory.MemoryPlugin;
import io.trino.plugin.tpch.TpchPlugin;
import io.trino.testing.DistributedQueryRunner;
import io.trino.testing.TestingSession;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Two nodes of Trino in one process: a coordinator, which works too, and a worker. The arguments are the port and a
 * folder. There the file rules.json has the access rules, the file ready appears when the server is, and a file order
 * that says "end" or "add" ends or adds a worker and goes then.
 */
public class Run {
	public static void main(String[] args) throws Exception {
		Path dir = Path.of(args[1]);
		var runner = DistributedQueryRunner.builder(TestingSession.testSessionBuilder().setCatalog("memory").setSchema("default").build())
				.setNodeCount(2)
				// A node is given up after 10 s and not after a minute.
				.setExtraProperties(Map.of("query.remote-task.max-error-duration", "10s", "exchange.max-error-duration", "10s"))
				.setCoordinatorProperties(Map.of("http-server.http.port", args[0]))
				.setSystemAccessControl("file", Map.of("security.config-file", dir.resolve("rules.json").toString(), "security.refresh-period", "100ms"))
				.build();
		runner.installPlugin(new TpchPlugin());
		runner.createCatalog("tpch", "tpch");
		runner.installPlugin(new MemoryPlugin());
		runner.createCatalog("memory", "memory");
		Files.writeString(dir.resolve("ready"), "");
		Path order = dir.resolve("order");
		for (; ; Thread.sleep(50)) {
			if (!Files.exists(order)) {
				continue;
			}
			if (Files.readString(order).equals("add")) {
				int before = runner.getCoordinator().refreshNodes().getActiveNodes().size();
				CompletableFuture.runAsync(() -> add(runner)); // does not come back after a worker has ended, since it asks that one too
				while (runner.getCoordinator().refreshNodes().getActiveNodes().size() <= before) {
					Thread.sleep(20);
				}
			} else {
				runner.getServers().stream().filter(s -> !s.isCoordinator()).reduce((a, b) -> b).orElseThrow().close();
			}
			Files.delete(order);
		}
	}

	static void add(DistributedQueryRunner runner) {
		try {
			runner.addServers(1);
		} catch (Exception e) {
			throw new RuntimeException(e);
		}
	}
}
