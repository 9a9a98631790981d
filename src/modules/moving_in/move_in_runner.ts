import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

import type { ActionRuntime } from '#actions/run_action.ts';
import type { Caller } from '#modules/accounts/decide/caller.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { FileThread } from '#modules/configuration/file_thread.ts';
import { readPlan } from '#modules/configuration/read_plan.ts';
import {
  type MoveInPlan,
  type MoveInWork,
  type MoveInWorker,
  summaryOf,
  type ToolAccess,
} from '#modules/moving_in/decide/move_in_state.ts';
import type { ReadingData, ReadingMessage } from '#modules/moving_in/reading_program.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Log } from '#kernel/log.ts';
import { isManagerRole } from '#kernel/permissions.ts';
import { inUnitOfWork, storesOf } from '#modules/stores.ts';

/** Moves that one process reads or applies at once. */
const AT_ONCE = 2;
const READING_MS_MAX = 45 * 60_000;
const MEMORY_MB = 768;
const SIGN_MS = 10_000;
const MEANING_MAX = 200;
/** Changes between two notes of how far applying is. */
const NOTED_EVERY = 25;

/**
 * Reads, plans and applies moves beside the requests of this process. The reading is a thread of its own, bounded in
 * memory and time; the process says every ten seconds that it goes on, and one that is stopped leaves a step that
 * somebody begins again.
 */
export class MoveInRunner implements MoveInWorker {
  readonly #runtime: () => ActionRuntime;
  readonly #log: Pick<Log, 'error'>;
  readonly #files = new FileThread();
  readonly #running = new Map<string, { readonly orgId: Id<'org'>; readonly ended: Promise<void> }>();
  readonly #threads = new Map<string, Worker>();

  constructor(runtime: () => ActionRuntime, log: Pick<Log, 'error'>) {
    this.#runtime = runtime;
    this.#log = log;
  }

  requireRoom(orgId: Id<'org'>): void {
    // A tool may answer as slowly as it likes: one organization leaves room for others.
    if ([...this.#running.values()].some((move) => move.orgId === orgId))
      throw new AppError(
        'unavailable',
        'another move of your organization is being worked on; try again when it is done',
        { retryAfterSeconds: 60 },
      );
    if (this.#running.size >= AT_ONCE)
      throw new AppError('unavailable', 'other moves are being worked on; try again in some minutes', {
        retryAfterSeconds: 60,
      });
  }

  read(work: MoveInWork, access: ToolAccess | null): void {
    this.#start(work, async () => {
      const { clock, db, installation } = this.#runtime();
      const { moveIns } = storesOf(db.session());
      const now = clock.now().epochMilliseconds;
      const data: ReadingData = {
        tool: work.tool,
        time: { now, proofFrom: work.proofFrom },
        key: access?.key ?? null,
        baseUrl: access?.baseUrl ?? null,
        files: access === null ? await moveIns.listFiles(work.moveInId) : [],
        answers: access === null ? [] : await moveIns.listAnswers(work.moveInId),
        allowInternalAddresses: installation.allowsInternalAddresses,
      };
      const { file, report, markdown } = await this.#readInThread(work.moveInId, data);
      await inUnitOfWork(this.#runtime(), async ({ stores, now: at }) => {
        await stores.moveIns.replaceItems(work.moveInId, report.items);
        await stores.moveIns.deleteKept(work.moveInId);
        const read = { status: 'read', file, markdown, summary: summaryOf(report), plan: null } as const;
        await stores.moveIns.save(work.moveInId, { ...read, progress: '', fault: null, updatedAt: at });
      });
      await this.#plan(work, file);
    });
  }

  apply(work: MoveInWork, fingerprint: string): void {
    this.#start(work, async () => {
      const runtime = this.#runtime();
      const { moveIns } = storesOf(runtime.db.session());
      const text = await fileOf(runtime, work.moveInId);
      const request = { text, fileName: fileNameOf(work.tool), prune: false, expects: fingerprint };
      const { applied } = await applyConfiguration(runtime, work.caller, work.origin, request, {
        files: this.#files,
        onChange: async (_change, index) => {
          await requireManager(runtime, work.caller);
          if ((index + 1) % NOTED_EVERY === 0)
            await moveIns.save(work.moveInId, { progress: `${index + 1} changes are made.` });
        },
      });
      const done = { status: 'applied', progress: '', fault: null, applied } as const;
      await moveIns.save(work.moveInId, { ...done, updatedAt: runtime.clock.now() });
      await this.#plan(work, text);
    });
  }

  plan(work: MoveInWork): void {
    this.#start(work, async () => await this.#plan(work, await fileOf(this.#runtime(), work.moveInId)));
  }

  stop(moveInId: Id<'movein'>): void {
    void this.#threads.get(moveInId)?.terminate();
  }

  async idle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all([...this.#running.values()].map(async ({ ended }) => await ended));
  }

  async close(): Promise<void> {
    await Promise.all([...this.#threads.values()].map(async (thread) => await thread.terminate()));
    await this.idle();
    await this.#files.close();
  }

  #start(work: MoveInWork, step: () => Promise<void>): void {
    const { moveInId } = work;
    if (this.#running.has(moveInId)) throw new AppError('conflict', 'this move is being worked on');
    const sign = setInterval(() => {
      this.#sign(work).catch((error: unknown) => {
        this.#log.error({ err: error, moveInId }, 'a move could not say that it goes on');
      });
    }, SIGN_MS);
    const run = async (): Promise<void> => {
      try {
        await step();
      } catch (error) {
        if (!(error instanceof AppError)) this.#log.error({ err: error, moveInId }, 'a move from another tool failed');
        const fault = error instanceof AppError ? sentenceOf(error) : 'Something went wrong here; try again.';
        await this.#fail(work, fault).catch((reason: unknown) => {
          this.#log.error({ err: reason, moveInId }, 'the fault of a move could not be written');
        });
      } finally {
        clearInterval(sign);
        this.#running.delete(moveInId);
      }
    };
    this.#running.set(moveInId, { orgId: work.caller.orgId, ended: run() });
  }

  /** Says that the move goes on, or ends the reading where somebody has stopped it by another process. */
  async #sign({ moveInId, caller }: MoveInWork): Promise<void> {
    const { clock, db } = this.#runtime();
    const { moveIns } = storesOf(db.session());
    const { status } = await moveIns.get(caller.orgId, moveInId);
    if (status === 'failed') return this.stop(moveInId);
    await moveIns.save(moveInId, { updatedAt: clock.now() });
  }

  /** Writes the fault. Everything that was read stays, so that planning and applying can be tried again. */
  async #fail({ moveInId, caller }: MoveInWork, fault: string): Promise<void> {
    const { clock, db } = this.#runtime();
    const { moveIns } = storesOf(db.session());
    const { hasFile } = await moveIns.get(caller.orgId, moveInId);
    const status = hasFile ? 'read' : 'failed';
    await moveIns.save(moveInId, { status, progress: '', fault, updatedAt: clock.now() });
  }

  async #plan({ moveInId, tool, caller }: MoveInWork, text: string): Promise<void> {
    const runtime = this.#runtime();
    const request = { text, fileName: fileNameOf(tool), prune: false };
    const { plan, meaning, fingerprint } = await readPlan(runtime, caller, request, this.#files);
    const byKind: Record<string, number> = {};
    for (const { kind } of plan.changes) byKind[kind] = (byKind[kind] ?? 0) + 1;
    const shown: MoveInPlan = {
      fingerprint,
      changes: plan.changes.length,
      byKind,
      meaning: meaning.slice(0, MEANING_MAX),
    };
    await storesOf(runtime.db.session()).moveIns.save(moveInId, { plan: shown, updatedAt: runtime.clock.now() });
  }

  async #readInThread(
    moveInId: Id<'movein'>,
    data: ReadingData,
  ): Promise<Extract<ReadingMessage, { readonly kind: 'read' }>> {
    const { moveIns } = storesOf(this.#runtime().db.session());
    const thread = new Worker(new URL('./reading_program.ts', import.meta.url), {
      workerData: data,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    });
    this.#threads.set(moveInId, thread);
    const timer = setTimeout(() => void thread.terminate(), READING_MS_MAX);
    const end: { message: Extract<ReadingMessage, { readonly kind: 'read' | 'fault' }> | null } = { message: null };
    let written: Promise<void> = Promise.resolve();
    let isMemoryShort = false;
    thread.on('message', (message: ReadingMessage) => {
      if (message.kind === 'read' || message.kind === 'fault') end.message = message;
      else written = written.then(async () => await note(message));
    });
    thread.on('error', (error: unknown) => {
      isMemoryShort = Object(error).code === 'ERR_WORKER_OUT_OF_MEMORY';
      if (!isMemoryShort && end.message === null) this.#log.error({ err: error, moveInId }, 'reading a tool failed');
    });
    try {
      await once(thread, 'exit');
      await written;
    } finally {
      clearTimeout(timer);
      this.#threads.delete(moveInId);
    }
    const { message } = end;
    if (message?.kind === 'read') return message;
    if (message !== null) throw new AppError('invalid_input', message.text);
    throw new AppError(
      'invalid_input',
      isMemoryShort
        ? 'There is more to read than this page can hold. Move in by the command line.'
        : 'The reading was stopped. Begin again: it goes on where it stopped.',
    );

    async function note(message: Extract<ReadingMessage, { readonly kind: 'answer' | 'progress' }>): Promise<void> {
      if (message.kind === 'progress') return await moveIns.save(moveInId, { progress: message.text });
      return await moveIns.keepAnswer(moveInId, message);
    }
  }
}

/** Name by which the organization knows the file of a move. */
function fileNameOf(tool: string): string {
  return `move-in-${tool}.yaml`;
}

async function fileOf(runtime: ActionRuntime, moveInId: Id<'movein'>): Promise<string> {
  const { moveIns } = storesOf(runtime.db.session());
  const text = await moveIns.readText(moveInId, 'file', { from: 0, length: 20_000_000 });
  if (text === null) throw new AppError('conflict', 'nothing was read yet');
  return text;
}

function sentenceOf({ message }: AppError): string {
  return `${message.slice(0, 1).toUpperCase()}${message.slice(1)}${message.endsWith('.') ? '' : '.'}`;
}

/** Throws once whoever began a move is no owner or admin any more: it goes on long after their request. */
async function requireManager({ db }: ActionRuntime, { actor, orgId }: Caller): Promise<void> {
  if (actor.kind !== 'user') return;
  const role = await storesOf(db.session()).people.findRole(orgId, actor.userId);
  if (role !== null && isManagerRole(role)) return;
  throw new AppError('forbidden', 'whoever began this is no owner or admin any more; what is made stays');
}
