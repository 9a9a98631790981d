import type { FaultOfFile, ReadFile } from '#modules/configuration/decide/read_file.ts';
import type { FileReading } from '#modules/configuration/read_plan.ts';
import { AppError, type Fault } from '#kernel/errors.ts';
import { OwnThread } from '#kernel/threads/own_thread.ts';

/** Question to the thread: a text to read, or faults of one whose lines are wanted. */
export interface FileQuestion {
  readonly text: string;
  readonly faults: readonly Fault[] | null;
}

/** Answer of the thread; null for a text that takes too long. */
export type FileAnswer = ReadFile | null;

/** Memory for a body of 4 MiB, whose parts are objects while it is read; 256 MiB end at half of it. */
const MEMORY_MB = 512;
/** Time for all attempts on a busy machine, where it also takes long to start the thread. */
const UNHEARD_MS = 60_000;

/** Reads files in a thread of its own, in which organizations take turns: this process goes on answering everybody. */
export class FileThread implements FileReading {
  readonly #thread = new OwnThread<FileQuestion, FileAnswer>({
    program: new URL('./file_program.ts', import.meta.url),
    data: null,
    memoryMb: MEMORY_MB,
    unheardMs: UNHEARD_MS,
  });

  async read(orgId: string, text: string): Promise<ReadFile> {
    return await this.#ask(orgId, { text, faults: null });
  }

  async locate(orgId: string, text: string, faults: readonly Fault[]): Promise<readonly FaultOfFile[]> {
    const located = await this.#ask(orgId, { text, faults });
    return located.kind === 'faults' ? located.faults : [];
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  async #ask(orgId: string, question: FileQuestion): Promise<ReadFile> {
    const asked = await this.#thread.ask(orgId, question);
    if (asked.kind === 'answered' && asked.answer !== null) return asked.answer;
    throw new AppError('invalid_input', 'the file takes too long to read, or too much memory; make several of it');
  }
}
