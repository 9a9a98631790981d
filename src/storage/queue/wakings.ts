import { newId } from '#kernel/ids.ts';
import type { KeptJobContract } from '#kernel/job.ts';
import type { KeptPlace } from '#storage/postgres/kept_job_store.ts';

type Wake = (job: KeptJobContract, keptId: string) => void;

/** Jobs that wait for the same wake-up. */
interface Waking {
  readonly keptId: string;
  readonly job: KeptJobContract;
  jobs: number;
  bytes: number;
  storing: number;
  stored: number;
  /** It takes no more. */
  isShut: boolean;
}

/**
 * How long at least from one wake-up for a kind of job to the next. Each costs the queue as much as storing the job; a
 * busy line therefore has several jobs come with one, while a quiet one waits for nobody.
 */
const EVERY_MS = 100;
/** What one wake-up is for at most; a single job may be larger. A worker holds all of it in memory. */
const JOBS_MAX = 8;
const BYTES_MAX = 512 * 1024;

/** Has jobs that are stored within a moment share the wake-up of their worker. */
export class Wakings {
  readonly #wake: Wake;
  readonly #open = new Map<KeptJobContract, Waking>();
  readonly #lastAt = new Map<KeptJobContract, number>();

  constructor(wake: Wake) {
    this.#wake = wake;
  }

  /** Stores a job under its place among those of one wake-up, which comes once all of them are stored. */
  async join(job: KeptJobContract, bytes: number, store: (place: KeptPlace) => Promise<void>): Promise<void> {
    const waking = this.#placeFor(job, bytes);
    const place = { keptId: waking.keptId, number: waking.jobs };
    waking.jobs += 1;
    waking.bytes += bytes;
    waking.storing += 1;
    try {
      await store(place);
      waking.stored += 1;
    } finally {
      waking.storing -= 1;
      this.#wakeIfComplete(waking);
    }
  }

  /** Nothing that is stored waits any longer. */
  settle(): void {
    for (const waking of this.#open.values()) this.#shut(waking);
  }

  #placeFor(job: KeptJobContract, bytes: number): Waking {
    const open = this.#open.get(job);
    if (open !== undefined && open.jobs < JOBS_MAX && open.bytes + bytes <= BYTES_MAX) return open;
    if (open !== undefined) this.#shut(open);
    const made: Waking = { keptId: newId('job'), job, jobs: 0, bytes: 0, storing: 0, stored: 0, isShut: false };
    this.#open.set(job, made);
    const sinceLastMs = performance.now() - (this.#lastAt.get(job) ?? -Infinity);
    setTimeout(() => this.#shut(made), Math.max(0, EVERY_MS - sinceLastMs)).unref();
    return made;
  }

  #shut(waking: Waking): void {
    if (waking.isShut) return;
    waking.isShut = true;
    if (this.#open.get(waking.job) === waking) this.#open.delete(waking.job);
    this.#wakeIfComplete(waking);
  }

  /** What could not be stored was not promised either. */
  #wakeIfComplete({ job, keptId, isShut, storing, stored }: Waking): void {
    if (!isShut || storing > 0 || stored === 0) return;
    this.#lastAt.set(job, performance.now());
    this.#wake(job, keptId);
  }
}
