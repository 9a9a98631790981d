import type { FastifyInstance } from 'fastify';

import { authenticateMember } from '#entry/http/console/organization_operations.ts';
import type { Serving } from '#entry/http/console/browser.ts';

export const EVENTS_PATH = '/organizations/:org/events';

const COMMENT_MS = 15_000;
/** Unread bytes from which a console counts as gone. */
const WAITING_BYTES_MAX = 1024 * 1024;

/**
 * Serves the changes of an organization to its members, as server-sent events. `shownForMs` is how long ago the browser
 * began to read what it shows: changes since then are sent at once.
 */
export function serveEvents(scope: FastifyInstance, serving: Serving): void {
  const { context } = serving;
  scope.get<{ Params: { org: string }; Querystring: { shownForMs?: unknown } }>(
    EVENTS_PATH,
    { exposeHeadRoute: false },
    async (request, reply) => {
      const { session, caller } = await authenticateMember(serving, request, request.params.org);
      const { raw } = reply;
      const pending: string[] = [];
      let isOpen = false;
      const write = (text: string): void => {
        if (!isOpen) pending.push(text);
        else if (raw.writableLength > WAITING_BYTES_MAX) raw.destroy();
        else raw.write(text);
      };
      const unsubscribe = await context.changes.subscribe(
        { sessionId: session.sessionId, orgId: caller.orgId, address: request.ip },
        readDuration(request.query.shownForMs),
        {
          notify: (changes) => {
            for (const change of changes) write(`event: change\ndata: ${JSON.stringify(change)}\n\n`);
          },
          end: () => raw.end(),
        },
      );
      reply.hijack();
      if (raw.destroyed) return unsubscribe();
      const comments = setInterval(() => write(': here\n\n'), COMMENT_MS);
      raw.once('close', () => {
        clearInterval(comments);
        unsubscribe();
      });
      raw.writeHead(200, {
        'content-type': 'text/event-stream; charset=utf-8',
        'cache-control': 'no-store, no-transform',
        'x-accel-buffering': 'no',
        'x-request-id': request.id,
      });
      isOpen = true;
      write(`: listening\n\n${pending.join('')}`);
      return reply;
    },
  );
}

/** Parses the duration; null for consoles of an earlier version, which reload by themselves. */
function readDuration(text: unknown): number | null {
  return typeof text === 'string' && /^\d{1,12}$/.test(text) ? Number(text) : null;
}
