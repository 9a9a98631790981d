import type { NewDurableJob } from '#storage/queue/durable_queue.ts';

/** Header of the bytes of a job on disk: a line of JSON. */
type Head = Omit<NewDurableJob, 'bytes'>;

const NEWLINE = 0x0a;

export function toSpooled({ bytes, ...head }: NewDurableJob): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head satisfies Head)}\n`), bytes]);
}

/** The inverse of `toSpooled`. */
export function fromSpooled(spooled: Buffer): NewDurableJob {
  const end = spooled.indexOf(NEWLINE);
  const head = JSON.parse(spooled.toString('utf8', 0, end)) as Head;
  return { ...head, bytes: spooled.subarray(end + 1) };
}
