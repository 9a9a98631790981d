/** Program of the thread that reads what another tool says, for `MoveInRunner`. */
import { setTimeout } from 'node:timers/promises';
import { parentPort } from 'node:worker_threads';

import { createToolFetch, NotPublicError } from '#auth/external_fetch.ts';
import { addressOf, Ask } from '#modules/moving_in/ask.ts';
import { keyOf } from '#modules/moving_in/ask_files.ts';
import { ASKED_TOOLS } from '#modules/moving_in/ask_tools.ts';
import type { ReadingTime } from '#modules/moving_in/decide/moved.ts';
import type { MoveInReport } from '#modules/moving_in/decide/report.ts';
import { MOVE_IN_TOOLS } from '#modules/moving_in/decide/tools.ts';
import { moveIn } from '#modules/moving_in/move_in.ts';
import { type FolderContent, readTexts } from '#modules/moving_in/read_folder.ts';
import { AppError } from '#kernel/errors.ts';
import { lowerThreadPriority, threadData } from '#kernel/threads/own_thread.ts';

/** Data of the thread: files, or a key that is in nothing else than its memory. */
export interface ReadingData {
  readonly tool: string;
  readonly time: ReadingTime;
  readonly files: readonly { readonly name: string; readonly text: string }[];
  readonly key: string | null;
  readonly baseUrl: string | null;
  /** Answers of a reading that broke off. */
  readonly answers: readonly { readonly name: string; readonly text: string; readonly next: string | null }[];
  readonly allowInternalAddresses: boolean;
}

/** Messages of the thread while it reads, and at the end. */
export type ReadingMessage =
  | { readonly kind: 'answer'; readonly name: string; readonly text: string; readonly next: string | null }
  | { readonly kind: 'progress'; readonly text: string }
  | { readonly kind: 'fault'; readonly text: string }
  | { readonly kind: 'read'; readonly file: string; readonly report: MoveInReport; readonly markdown: string };

const ANSWER_BYTES_MAX = 64 * 1_048_576;
/** Characters of a configuration file that the product reads. */
const FILE_LENGTH_MAX = 16_000_000;
const NICENESS = 10;

function say(message: ReadingMessage): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a port of a thread has no origin
  parentPort?.postMessage(message);
}

async function contentOf(data: ReadingData): Promise<FolderContent> {
  const { tool, time, files, key, baseUrl, answers, allowInternalAddresses } = data;
  if (key === null) return readTexts(files);
  const asked = ASKED_TOOLS[tool];
  if (asked === undefined) throw new AppError('invalid_input', `${tool} is read from files only`);
  const kept = new Map(answers.map((answer) => [answer.name, answer]));
  const read = keyOf(key, 'the field for the key');
  let count = 0;
  const fetchOfTool = createToolFetch({ allowInternalAddresses, bytesMax: ANSWER_BYTES_MAX });
  const address = addressOf(baseUrl ?? asked.baseUrl, 'the address');
  if (!allowInternalAddresses && !address.startsWith('https:')) throw notReachable();
  const ask = new Ask({
    baseUrl: address,
    key: { place: 'the form', read: async () => await Promise.resolve(read) },
    headers: asked.headers,
    kept: {
      async find(name) {
        const answer = kept.get(name);
        if (answer === undefined) return await Promise.resolve(null);
        return { value: JSON.parse(answer.text) as unknown, next: answer.next };
      },
      async keep(name, { value, next }) {
        count += 1;
        say({ kind: 'answer', name, text: JSON.stringify(value), next });
        say({ kind: 'progress', text: `${count + kept.size} answers were read.` });
        await Promise.resolve();
      },
    },
    keyWaitMs: 0,
    outside: {
      fetch: async (url, { headers, method = 'GET', body, signal }) => {
        const asked = { method, headers: Object.fromEntries(new Headers(headers)), body, signal: signal ?? undefined };
        try {
          return await fetchOfTool(url, asked);
        } catch (error) {
          throw error instanceof NotPublicError ? notReachable() : error;
        }
      },
      sleep: async (ms) => {
        say({ kind: 'progress', text: `${count + kept.size} answers were read; waiting, as the tool asks to.` });
        await setTimeout(ms);
      },
      say: () => {},
      now: () => time.now,
    },
  });
  await asked.ask(ask, time);
  return { documents: ask.documents, unreadable: [] };
}

/** The server asks no address within its own network for somebody, unless its operator allows that. */
function notReachable(): AppError {
  return new AppError(
    'invalid_input',
    'the address is not on the public Internet by https, and this server asks no other; move in by the command line there',
  );
}

async function run(data: ReadingData): Promise<void> {
  const tool = MOVE_IN_TOOLS[data.tool];
  if (tool === undefined) throw new AppError('invalid_input', `there is no tool ${data.tool}`);
  const { documents, unreadable } = await contentOf(data);
  say({ kind: 'progress', text: 'Everything was read; the schedules are compared.' });
  const result = moveIn(tool, documents, unreadable, data.time);
  if (result.file.length > FILE_LENGTH_MAX)
    throw new AppError(
      'invalid_input',
      'the configuration file would be too large: move in by the command line, in parts',
    );
  say({ kind: 'read', ...result });
}

lowerThreadPriority(NICENESS);
try {
  await run(threadData() as ReadingData);
} catch (error) {
  // Another error could hold anything that the tool has answered.
  const text = error instanceof AppError ? error.message : 'What was read cannot be understood; nothing was written';
  say({ kind: 'fault', text });
  if (!(error instanceof AppError)) throw error;
}
