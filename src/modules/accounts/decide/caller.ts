import type { Via } from '#modules/accounts/decide/via.ts';
import type { CallerVia } from '#kernel/caller.ts';

/** Caller of an action, over any protocol. */
export type Caller = CallerVia<Via>;
