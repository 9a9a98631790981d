import { Type } from 'typebox';

import { CLOSED } from '#actions/fields.ts';
import { LIVE_TOPICS } from '#core/console/live_topics.ts';
import { consoleRoute } from '#entry/http/console/route.ts';

const COMMENT_MS = 15_000;
/** A console that reads nothing for so long that this much waits for it is gone. */
const WAITING_BYTES_MAX = 1024 * 1024;

export const EVENT_ROUTES = [
  consoleRoute({
    name: 'listen_to_changes',
    method: 'GET',
    path: '/organizations/:org/events',
    tag: 'Organizations',
    summary:
      'Listen to changes, as server-sent events: event `change` with the data `{"topic": ' +
      LIVE_TOPICS.map((topic) => `"${topic}"`).join(' | ') +
      ', "ids": ["…"] | null}`, null where there is too much to name. Ends when the session or the membership does.',
    access: 'member',
    query: Type.Object({}, CLOSED),
    result: null,
    sends: ['text/event-stream'],
    refusals: ['rate_limited'],
    async handle({ house, session, caller, request, reply }) {
      const { raw } = reply;
      const pending: string[] = [];
      let isOpen = false;
      const write = (text: string): void => {
        if (!isOpen) pending.push(text);
        else if (raw.writableLength > WAITING_BYTES_MAX) raw.destroy();
        else raw.write(text);
      };
      const stop = await house.changes.listen(
        { sessionId: session.sessionId, orgId: caller.orgId },
        {
          tell: (changes) => {
            for (const change of changes) write(`event: change\ndata: ${JSON.stringify(change)}\n\n`);
          },
          end: () => raw.end(),
        },
      );
      const comments = setInterval(() => write(': here\n\n'), COMMENT_MS);
      raw.once('close', () => {
        clearInterval(comments);
        stop();
      });
      reply.hijack();
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
  }),
];
