import { type AuthorizationServer, createAuthorizationServer } from '#auth/oauth/authorization_server.ts';
import { authenticateSession, sessionCookieOf } from '#auth/sessions.ts';
import type { AppContext } from '#entry/compose.ts';
import { ANSWER_PAGE_HEADERS, type AnswerPage, renderAnswerPage } from '#entry/http/answers/answer_page.ts';
import { externalFetchOptionsOf } from '#entry/config.ts';
import { clientAddresses } from '#entry/http/connections/addresses.ts';
import type { SharedLimits } from '#entry/http/shared_limits.ts';
import { MCP_PATH } from '#entry/http/mcp/resource_metadata.ts';
import { AppError } from '#kernel/errors.ts';
import { storesOf } from '#modules/stores.ts';
import { API_PATHS } from '#kernel/api_paths.ts';

/** Opens the authorization server on top of the console, which knows who is signed in and has the page for consent. */
export function openAuthorizationServer(
  context: Pick<AppContext, 'config' | 'db' | 'clock' | 'log' | 'reachedLimits'>,
  { processes }: Pick<SharedLimits, 'processes'>,
): AuthorizationServer {
  const { config, db, clock, log, reachedLimits } = context;
  const cookie = sessionCookieOf(config.baseUrl);
  return createAuthorizationServer({
    db,
    clock,
    log,
    processes,
    fetchesPerMinute: config.appDocumentsPerMinute,
    onTooManyFetches: (network) => reachedLimits.record('appDocumentsPerMinute', network),
    baseUrl: config.baseUrl,
    appSecret: config.appSecret,
    resource: config.baseUrl + MCP_PATH,
    ...externalFetchOptionsOf(config),
    addressOf: (request) => clientAddresses.get(request) ?? '',
    consentPaths: { page: '/connect', api: `${API_PATHS.console}/connect` },
    async signedInUser({ headers }) {
      try {
        return (await authenticateSession(storesOf(db.session()), cookie, headers.cookie, clock.now())).userId;
      } catch (error) {
        if (error instanceof AppError && error.code === 'unauthenticated') return null;
        throw error;
      }
    },
    errorPage: ({ sentence, wayBack }) => ({
      headers: ANSWER_PAGE_HEADERS,
      html: renderAnswerPage(wayBack === null ? notConnected(sentence) : refused(wayBack)),
    }),
  });
}

function notConnected(sentence: string): Omit<AnswerPage, 'status'> {
  return {
    heading: 'This app cannot be connected.',
    paragraphs: [
      'What it sent along with you is not valid, or too old. Begin again in the app.',
      `For its makers: ${sentence}.`,
    ],
  };
}

function refused(wayBack: string): Omit<AnswerPage, 'status'> {
  const { host, protocol } = new URL(wayBack);
  return {
    heading: 'The app is not connected.',
    paragraphs: ['You refused it. You can close this page.'],
    link: { text: `Tell the app, at ${host === '' ? protocol : host}`, url: wayBack },
  };
}
