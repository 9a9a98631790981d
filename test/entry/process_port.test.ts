import { PerformanceObserver } from 'node:perf_hooks';

import { Gauge } from 'prom-client';
import { expect, onTestFinished, test, vi } from 'vitest';

import { openProcessRegistry } from '#entry/process_port.ts';

test('a process is watched once, however many applications it has had, and each has metrics of its own', async () => {
  const first = openProcessRegistry();
  const observe = vi.spyOn(PerformanceObserver.prototype, 'observe');
  onTestFinished(() => observe.mockRestore());
  const second = openProcessRegistry();
  expect(observe).not.toHaveBeenCalled();
  new Gauge({ name: 'own', help: 'Of the second application.', registers: [second] }).set(1);
  const [told, toldBySecond] = await Promise.all([first.metrics(), second.metrics()]);
  expect([told.includes('own 1'), toldBySecond.includes('own 1')]).toEqual([false, true]);
  for (const text of [told, toldBySecond]) expect(text).toContain('process_resident_memory_bytes');
});
