import type { NewDurableJob } from '#storage/queue/durable_queue.ts';

/** Header of the bytes of a job on disk: a line of JSON. */
type Head = Omit<NewDurableJob, 'bytes'>;

const NEWLINE = 0x0a;
const BRACE = 0x7b;

export function toSpooled({ bytes, ...head }: NewDurableJob): Buffer {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head satisfies Head)}\n`), bytes]);
}

/** The inverse of `toSpooled`. What the release before has left begins with the bytes, which never begin with a brace. */
export function fromSpooled(spooled: Buffer): NewDurableJob {
  if (spooled[0] !== BRACE) return { orgId: '', serviceId: '', items: 1, bytes: spooled };
  const end = spooled.indexOf(NEWLINE);
  const head = JSON.parse(spooled.toString('utf8', 0, end)) as Head;
  return { ...head, bytes: spooled.subarray(end + 1) };
}
