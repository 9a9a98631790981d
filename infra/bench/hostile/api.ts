import { spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { FRUGAL_ALLOCATION, v8Flags } from '#entry/memory/memory.ts';

import type { Measured } from './api_process.ts';

/** An API process that measures its own event loop. */
export interface MeasuredApi {
  /** Returns the measurements since the last call. */
  measure(): Promise<Measured>;
  stop(): Promise<void>;
}

type Message = { readonly ready: true } | { readonly measured: Measured };

/** Starts the API as production does, in a process of its own: the heap of the senders is not collected there. */
export async function startApi(environment: Readonly<Record<string, string>>): Promise<MeasuredApi> {
  const entry = path.join(import.meta.dirname, 'api_process.ts');
  const child = spawn(process.execPath, [...v8Flags('ample'), entry], {
    env: { PATH: process.env['PATH'], ...FRUGAL_ALLOCATION, ...environment },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`the API ended (${String(code ?? signal)})`);
  });
  ended.catch(() => {});
  const next = async (): Promise<Message> => {
    const [message] = (await Promise.race([once(child, 'message'), ended])) as [Message];
    return message;
  };
  await next();
  return {
    async measure() {
      const answer = next();
      child.send({});
      const message = await answer;
      if (!('measured' in message)) throw new Error('the API answered something else');
      return message.measured;
    },
    async stop() {
      child.kill('SIGTERM');
      await ended.catch(() => {});
    },
  };
}
