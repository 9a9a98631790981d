/** Runs an attack in a thread of its own, so that what the bystander measures does not wait for it. */
import { once } from 'node:events';
import { parentPort, workerData } from 'node:worker_threads';

import { prepareAttacker } from './attacker.ts';

if (parentPort === null) throw new Error('this runs in a thread');
const attacker = await prepareAttacker(workerData as { readonly baseUrl: string; readonly key: string });
const stopping = new AbortController();
const begun = once(parentPort, 'message');
parentPort.postMessage('prepared', []);
await begun;
const stopped = once(parentPort, 'message');
const attacking = attacker.attack(stopping.signal);
await stopped;
stopping.abort();
await attacking;
parentPort.postMessage(await attacker.outcome(), []);
