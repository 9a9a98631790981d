import { expect, test } from 'vitest';

import { createLogger, WarningLimiter } from '#entry/logger.ts';
import { redact } from '#kernel/log.ts';
import { beyondLinear } from '#test/kit/counting/count_work.ts';

test('a warning that repeats is said five times a minute, and then how often it was not', () => {
  const limiter = new WarningLimiter();
  const admitted = Array.from({ length: 213 }, (_, index) => limiter.admit('the queue is away', index * 280));
  expect(admitted.filter((leftOut) => leftOut !== null)).toHaveLength(5);
  expect(limiter.admit('another', 59_000)).toBe(0);
  expect(limiter.admit('the queue is away', 60_000)).toBe(208);
  expect(limiter.admit('the queue is away', 60_001)).toBe(0);
});

test('only warnings are left out, and no secret is let through', () => {
  const lines: string[] = [];
  const log = createLogger({ logLevel: 'info' }, 'api', (line) => lines.push(line));
  for (let count = 0; count < 20; count += 1) {
    log.warn({ queue: 'a' }, 'queue connection fault');
    log.child({ part: 'b' }).error({}, 'failed');
  }
  log.info({ url: 'redis://user:hunter2@host' }, 'info');
  expect(lines.filter((line) => line.includes('queue connection fault'))).toHaveLength(5);
  expect(lines.filter((line) => line.includes('"failed"'))).toHaveLength(20);
  expect(lines.join('')).not.toContain('hunter2');
});

test('the password of an address of several hosts is hidden, as it is written and as it is', () => {
  const lines: string[] = [];
  const redisUrl = 'redis+sentinel://:hunter%23two@one:26379,two:26379/master';
  const log = createLogger({ logLevel: 'info', redisUrl }, 'worker', (line) => lines.push(line));
  log.info({ err: 'the password hunter%23two or hunter#two was refused' }, 'info');
  expect(lines.join('')).not.toContain('hunter');
});

test.each(['x://u:hunter2@h', '1postgres://u:hunter2@h', `${'scheme-'.repeat(9)}s3://u:hunter2@h`])(
  'the password in %s is hidden',
  (text) => expect(redact(`see ${text}/db`)).not.toContain('hunter2'),
);

test('secrets are taken out in time linear in the line, whatever it is made of', async () => {
  expect(await beyondLinear(import.meta.resolve('#test/kernel/log_workloads.ts'), 800)).toEqual([]);
});
