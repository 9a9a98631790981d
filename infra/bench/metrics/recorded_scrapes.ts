import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import http from 'node:http';
import path from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

import { findFreePort } from '#infra/embedded/free_port.ts';

import { prometheusVersion, startPrometheus } from './prometheus.ts';

/** The name of the recorded instance; other instances get names of the same length. */
export const RECORDED_INSTANCE = 'host-0000';

export function canRecord(): boolean {
  const { status } = spawnSync('prometheus-node-exporter', ['--version']);
  return status === 0 && prometheusVersion() !== null;
}

const WITHIN_MS = 60_000;

/** The first bodies that a real Prometheus sends while it scrapes a real node exporter every second. */
export async function recordScrapes(folder: string, requests: number): Promise<Buffer[]> {
  const bodies: Buffer[] = [];
  const receiver = http.createServer((req, res) => {
    void buffer(req).then((body) => {
      bodies.push(body);
      res.writeHead(204).end();
    });
  });
  receiver.listen(0, '127.0.0.1');
  await once(receiver, 'listening');
  const address = receiver.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const exporterAddress = `127.0.0.1:${await findFreePort(0)}`;
  const exporter = spawn('prometheus-node-exporter', [`--web.listen-address=${exporterAddress}`], { stdio: 'ignore' });
  try {
    const prometheus = await startPrometheus(path.join(folder, 'recorder'), configFor(exporterAddress, port));
    const deadline = performance.now() + WITHIN_MS;
    while (bodies.length < requests && performance.now() < deadline) await delay(100);
    await prometheus.stop();
  } finally {
    exporter.kill('SIGTERM');
    receiver.close();
  }
  if (bodies.length < requests) throw new Error(`Prometheus sent ${bodies.length} requests only`);
  return bodies.slice(0, requests);
}

/** Returns a configuration with Prometheus's default settings. */
function configFor(exporterAddress: string, port: number): string {
  return `
global: { scrape_interval: 1s, scrape_timeout: 1s }
scrape_configs:
  - job_name: node
    static_configs: [{ targets: ['${exporterAddress}'], labels: { instance: '${RECORDED_INSTANCE}' } }]
remote_write:
  - { url: 'http://127.0.0.1:${port}/', metadata_config: { send: false } }
`;
}
