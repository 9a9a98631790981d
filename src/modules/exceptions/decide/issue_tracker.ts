import { isRecord } from '#kernel/records.ts';
import type { Frame } from '#modules/exceptions/decide/event.ts';

export const TRACKERS_MAX = 20;

/** Limit on the length of an issue's title: the shortest of those of the vendors. */
export const ISSUE_TITLE_LENGTH_MAX = 255;

const KINDS = {
  github: {
    title: 'GitHub',
    address: 'https://github.com',
    project: { label: 'Repository', example: 'acme/shop', pattern: /^(?!\.)[\w.-]+\/(?!\.{1,2}$)[\w.-]+$/ },
    token: 'a fine-grained token with the permission Issues: read and write',
    hasAccount: false,
  },
  gitlab: {
    title: 'GitLab',
    address: 'https://gitlab.com',
    project: { label: 'Project', example: 'acme/shop', pattern: /^\d+$|^[\w.-]+(?:\/[\w.-]+)+$/ },
    token: 'an access token with the scope api, at least as Reporter',
    hasAccount: false,
  },
  jira: {
    title: 'Jira Cloud',
    address: 'https://acme.atlassian.net',
    project: { label: 'Project key', example: 'SHOP', pattern: /^[A-Za-z][A-Za-z0-9_]*$/ },
    token: 'an API token of the account',
    hasAccount: true,
  },
} as const;

export type TrackerKind = keyof typeof KINDS;

export const TRACKER_KINDS = ['github', 'gitlab', 'jira'] as const satisfies readonly TrackerKind[];

/** Returns what people read about a kind of tracker, and what its settings look like. */
export function trackerDeclarationOf(kind: TrackerKind): (typeof KINDS)[TrackerKind] {
  return KINDS[kind];
}

/** Settings of a tracker that are no secrets. */
export interface TrackerSettings {
  readonly kind: TrackerKind;
  /** Address of the vendor or of the own server, without a slash at its end. */
  readonly address: string;
  /** Mail address of the account that the token belongs to; null where the token says it. */
  readonly account: string | null;
  readonly project: string;
  /** Name of the kind of issue; null where there is only one. */
  readonly issueType: string | null;
}

export interface TrackerRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

export interface TrackedIssue {
  /** Number or key that people say: `42`, `SHOP-42`. */
  readonly number: string;
  readonly url: string;
  /** State in the vendor's words: `open`, `In Progress`. */
  readonly state: string;
  readonly isDone: boolean;
}

/** Text of a new issue. What senders wrote is shown as code, so that it mentions nobody and commands nothing. */
export interface IssueText {
  readonly title: string;
  /** Address of the exception here. */
  readonly link: string;
  readonly facts: readonly { readonly label: string; readonly value: string }[];
  /** Top of the stack, the raising call first. */
  readonly stack: readonly string[];
}

export function projectRequest(tracker: TrackerSettings, token: string): TrackerRequest {
  const { kind, project } = tracker;
  const path = {
    github: `repos/${project}`,
    gitlab: `projects/${encodeURIComponent(project)}`,
    jira: `project/${project}`,
  };
  return requestOf(tracker, token, 'GET', path[kind]);
}

export function newIssueRequest(tracker: TrackerSettings, token: string, text: IssueText): TrackerRequest {
  const { kind, project, issueType } = tracker;
  const title = text.title;
  switch (kind) {
    case 'github':
      return requestOf(tracker, token, 'POST', `repos/${project}/issues`, { title, body: toMarkdown(text) });
    case 'gitlab': {
      const path = `projects/${encodeURIComponent(project)}/issues`;
      return requestOf(tracker, token, 'POST', path, { title, description: toMarkdown(text) });
    }
    case 'jira': {
      const fields = {
        project: { key: project },
        issuetype: { name: issueType ?? 'Bug' },
        summary: title,
        description: toDocument(text),
      };
      return requestOf(tracker, token, 'POST', 'issue', { fields });
    }
  }
}

export function issueRequest(tracker: TrackerSettings, token: string, number: string): TrackerRequest {
  const { kind, project } = tracker;
  const path = {
    github: `repos/${project}/issues/${number}`,
    gitlab: `projects/${encodeURIComponent(project)}/issues/${number}`,
    jira: `issue/${number}?fields=status`,
  };
  return requestOf(tracker, token, 'GET', path[kind]);
}

function requestOf(
  { kind, address, account }: TrackerSettings,
  token: string,
  method: TrackerRequest['method'],
  path: string,
  content?: object,
): TrackerRequest {
  const authorization = {
    github: { authorization: `Bearer ${token}`, 'x-github-api-version': '2022-11-28' },
    gitlab: { 'private-token': token },
    jira: { authorization: `Basic ${Buffer.from(`${account ?? ''}:${token}`).toString('base64')}` },
  };
  return {
    method,
    url: `${apiOf(kind, address)}/${path}`,
    headers: {
      accept: kind === 'github' ? 'application/vnd.github+json' : 'application/json',
      'user-agent': 'tocsin',
      ...(content && { 'content-type': 'application/json' }),
      ...authorization[kind],
    },
    ...(content && { body: JSON.stringify(content) }),
  };
}

/** Returns the address of the API of a vendor, or of the own server of an organization. */
function apiOf(kind: TrackerKind, address: string): string {
  switch (kind) {
    case 'github':
      return address === KINDS.github.address ? 'https://api.github.com' : `${address}/api/v3`;
    case 'gitlab':
      return `${address}/api/v4`;
    case 'jira':
      return `${address}/rest/api/3`;
  }
}

/** Reads an issue in the answer of a tracker; null when it is none, as the answer of something else. */
export function readIssue({ kind, address }: TrackerSettings, answer: unknown): TrackedIssue | null {
  if (!isRecord(answer)) return null;
  switch (kind) {
    case 'github':
      return issueOf(answer['number'], answer['html_url'], answer['state'], answer['state'] === 'closed');
    case 'gitlab':
      return issueOf(answer['iid'], answer['web_url'], answer['state'], answer['state'] === 'closed');
    case 'jira': {
      const { key, fields } = answer;
      const status = isRecord(fields) && isRecord(fields['status']) ? fields['status'] : {};
      const category = isRecord(status['statusCategory']) ? status['statusCategory']['key'] : null;
      // The answer to a new issue has its key alone.
      return issueOf(key, `${address}/browse/${String(key)}`, status['name'] ?? 'open', category === 'done');
    }
  }
}

const STATE_LENGTH_MAX = 60;

function issueOf(number: unknown, url: unknown, state: unknown, isDone: boolean): TrackedIssue | null {
  const text = typeof number === 'number' ? String(number) : number;
  if (typeof text !== 'string' || !/^(?:[A-Z][A-Z0-9_]*-)?\d{1,15}$/.test(text)) return null;
  if (typeof url !== 'string' || !/^https?:\/\/[^\s/]+/.test(url) || typeof state !== 'string') return null;
  return { number: text, url, state: state.slice(0, STATE_LENGTH_MAX), isDone };
}

/** Field of a tracker's settings, or of a new issue, that a refusal is about. */
type RefusedField = 'address' | 'account' | 'token' | 'project' | 'issueType' | 'title';

/** Refusal of a tracker in our own words. */
export interface TrackerRefusal {
  /** Null when it is about no field: the tracker may take it later. */
  readonly field: RefusedField | null;
  readonly message: string;
  readonly retryAfterSeconds?: number;
}

export interface TrackerAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** Requests that are left in this hour, where the vendor says so. */
  readonly remaining: string | null;
  readonly body: unknown;
}

const RETRY_SECONDS = 60;
const RETRY_SECONDS_MAX = 3_600;

/** Returns why a tracker refuses a request, and which field that is about; null when it does not. */
export function refusalOf(tracker: TrackerSettings, answer: TrackerAnswer): TrackerRefusal | null {
  const { title, project: declared, token } = KINDS[tracker.kind];
  const { status, retryAfter, remaining } = answer;
  if (status >= 200 && status < 300) {
    return isRecord(answer.body) ? null : { field: 'address', message: `${title} does not answer at this address` };
  }
  if (status === 429 || (status === 403 && (retryAfter !== null || remaining === '0'))) {
    const seconds = Math.ceil(Number(retryAfter ?? RETRY_SECONDS));
    const retryAfterSeconds = seconds > 0 ? Math.min(seconds, RETRY_SECONDS_MAX) : RETRY_SECONDS;
    return { field: null, message: `${title} takes no more requests for now; try again later`, retryAfterSeconds };
  }
  const name = `${declared.label.toLowerCase()} ${tracker.project}`;
  if (status >= 300 && status < 400) {
    return { field: 'project', message: `${title} says that the ${name} has moved; write its new name` };
  }
  if (status === 401) {
    const whose = tracker.account === null ? 'the token' : 'the token of this account';
    return { field: 'token', message: `${title} does not know ${whose}: it is mistyped, expired or revoked` };
  }
  if (status === 403) return { field: 'token', message: `${title} forbids it to this token; it takes ${token}` };
  if (status === 404) return { field: 'project', message: `${title} knows no ${name} that this token may see` };
  if (status === 410) return { field: 'project', message: `issues are switched off in the ${name}` };
  if (status === 400 || status === 422) return refusedFieldOf(tracker, answer.body);
  const message = `${title} answers with status ${status}; try again later`;
  return { field: null, message, retryAfterSeconds: RETRY_SECONDS };
}

/** Returns which part of a new issue the tracker does not take; its own text is never shown. */
function refusedFieldOf(tracker: TrackerSettings, body: unknown): TrackerRefusal {
  const { title } = KINDS[tracker.kind];
  const names = refusedNames(body);
  if (names.includes('issuetype')) {
    const message = `the project ${tracker.project} has no issues of the type ${tracker.issueType ?? 'Bug'}`;
    return { field: 'issueType', message };
  }
  if (names.includes('project')) {
    return { field: 'project', message: `${title} knows no project ${tracker.project} that this token may see` };
  }
  const wanted = names.filter((name) => name !== 'summary' && name !== 'title');
  if (tracker.kind === 'jira' && wanted.length > 0) {
    const fields = wanted.slice(0, 5).join(', ');
    const message = `the project wants more of an issue of this type (${fields}); use a type that needs only a summary`;
    return { field: 'issueType', message };
  }
  return { field: 'title', message: `${title} does not take this title or text` };
}

/** Returns the names of fields in an error: `errors` is a record in Jira and a list in GitHub; GitLab has `message`. */
function refusedNames(body: unknown): string[] {
  if (!isRecord(body)) return [];
  const { errors, message } = body;
  const named = Array.isArray(errors)
    ? errors.map((error: unknown) => (isRecord(error) ? error['field'] : null))
    : Object.keys(isRecord(errors) ? errors : isRecord(message) ? message : {});
  return named.flatMap((name) => (typeof name === 'string' && /^\w{1,60}$/.test(name) ? [name] : []));
}

function toMarkdown({ link, facts, stack }: IssueText): string {
  const lines = facts.map(({ label, value }) => `- ${label}: ${inCode(value)}`);
  const fence = '`'.repeat(Math.max(3, longestTicks(stack.join('\n')) + 1));
  const code = stack.length === 0 ? [] : ['', fence, ...stack, fence];
  return [`[Open the exception](${link})`, '', ...lines, ...code].join('\n');
}

/** Returns the text as code within a line of Markdown, whatever it holds. */
function inCode(text: string): string {
  const ticks = '`'.repeat(longestTicks(text) + 1);
  return `${ticks} ${text} ${ticks}`;
}

function longestTicks(text: string): number {
  return Math.max(0, ...(text.match(/`+/g) ?? []).map(({ length }) => length));
}

function toDocument({ link, facts, stack }: IssueText): object {
  const paragraph = (content: readonly object[]) => ({ type: 'paragraph', content });
  const text = (value: string, ...marks: readonly object[]) => {
    return { type: 'text', text: value, ...(marks.length > 0 && { marks }) };
  };
  return {
    type: 'doc',
    version: 1,
    content: [
      paragraph([text('Open the exception', { type: 'link', attrs: { href: link } })]),
      ...facts.map(({ label, value }) => paragraph([text(`${label}: `), text(value, { type: 'code' })])),
      ...(stack.length === 0 ? [] : [{ type: 'codeBlock', attrs: {}, content: [text(stack.join('\n'))] }]),
    ],
  };
}

const STACK_LINE_LENGTH_MAX = 300;

/** Returns a frame on one line: `pay (src/payment.ts:118:11)`. */
export function stackLineOf({ function: name, module, filename, absPath, lineno, colno }: Frame): string {
  const place = [filename ?? absPath ?? module ?? 'unknown file', lineno, colno].filter((part) => part !== null);
  const line = `${name ?? '<anonymous>'} (${place.join(':')})`;
  return line.replaceAll(/\s+/g, ' ').slice(0, STACK_LINE_LENGTH_MAX).toWellFormed();
}

/** Returns a title on one line, no longer than a tracker takes. */
export function issueTitleOf(title: string): string {
  const line = title.replaceAll(/\s+/g, ' ').trim();
  return line.length <= ISSUE_TITLE_LENGTH_MAX ? line : `${line.slice(0, ISSUE_TITLE_LENGTH_MAX - 1).toWellFormed()}…`;
}
