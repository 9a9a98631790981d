import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A program with metrics of every kind, whose values are known: each scrape counts one order more. */
export interface ShopExporter {
  readonly address: string;
  /** Number of times that it was asked. */
  readonly scrapes: number;
  /** Counting begins at nothing again, as after a restart. */
  restart(): void;
  /** Nobody answers any more. */
  stop(): Promise<void>;
}

export async function startShopExporter(): Promise<ShopExporter> {
  let scrapes = 0;
  let orders = 0;
  const server = createServer((_request, response) => {
    scrapes += 1;
    orders += 1;
    response.setHeader('content-type', 'text/plain; version=0.0.4');
    response.end(metricsAfter(orders));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    address: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    get scrapes() {
      return scrapes;
    },
    restart() {
      orders = 0;
    },
    async stop() {
      if (!server.listening) return;
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

function metricsAfter(orders: number): string {
  return `# TYPE shop_orders_total counter
shop_orders_total{route="/a",status="200"} ${orders * 2}
shop_orders_total{route="/b",status="500"} ${orders}
# TYPE shop_queue gauge
shop_queue{till="1"} ${orders % 5}
shop_queue{till="2"} ${10 - (orders % 3)}
# TYPE shop_unmeasured gauge
shop_unmeasured NaN
# TYPE shop_boundless gauge
shop_boundless +Inf
# TYPE shop_latency_seconds histogram
shop_latency_seconds_bucket{le="0.1"} ${orders}
shop_latency_seconds_bucket{le="1"} ${orders * 2}
shop_latency_seconds_bucket{le="+Inf"} ${orders * 3}
shop_latency_seconds_sum ${orders * 1.5}
shop_latency_seconds_count ${orders * 3}
# TYPE shop_size_bytes summary
shop_size_bytes{quantile="0.5"} 512
shop_size_bytes_sum ${orders * 1024}
shop_size_bytes_count ${orders * 2}
`;
}
