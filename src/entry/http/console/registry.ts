import type { ConsoleRoute } from '#entry/http/console/route.ts';
import { SESSION_ROUTES } from '#entry/http/console/session.ts';

/** Every route below `/api/console`, in the order in which they are published. */
export const CONSOLE_ROUTES: readonly ConsoleRoute[] = [...SESSION_ROUTES];
