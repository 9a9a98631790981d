import http from 'node:http';
import { text } from 'node:stream/consumers';

/** Resources that a container has used, as its control group counts them. */
export interface Usage {
  readonly processorMs: number;
  /** Memory without the files in the cache. */
  readonly memoryBytes: number;
}

interface Stats {
  readonly cpu_stats: { readonly cpu_usage: { readonly total_usage: number } };
  readonly memory_stats: { readonly usage?: number; readonly stats?: Readonly<Record<string, number>> };
}

export async function readUsage(socket: string, container: string): Promise<Usage> {
  const { cpu_stats: cpu, memory_stats: memory } = await ask(
    socket,
    `/containers/${container}/stats?stream=false&one-shot=true`,
  );
  const { usage = 0, stats = {} } = memory;
  const cache = stats['inactive_file'] ?? stats['total_inactive_file'] ?? 0;
  return { processorMs: cpu.cpu_usage.total_usage / 1e6, memoryBytes: Math.max(0, usage - cache) };
}

async function ask(socketPath: string, path: string): Promise<Stats> {
  return await new Promise((resolve, reject) => {
    const request = http.get({ socketPath, path, timeout: 10_000 }, (response) => {
      text(response).then((body) => resolve(JSON.parse(body) as Stats), reject);
    });
    request.once('timeout', () => request.destroy(new Error('the engine does not answer')));
    request.once('error', reject);
  });
}
