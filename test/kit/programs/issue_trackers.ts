import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An issue at a vendor, as it was sent. */
interface StoredIssue {
  readonly vendor: 'github' | 'gitlab' | 'jira';
  readonly number: number;
  // eslint-disable-next-line typescript/no-explicit-any -- tests look into bodies of any shape
  readonly body: any;
  isClosed: boolean;
}

interface Reply {
  readonly status: number;
  readonly body: object | string;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Doubles of GitHub Enterprise, GitLab and Jira Cloud on one port, written from the references of their APIs: each
 * knows one project, and refuses what its vendor would refuse, with the vendor's body.
 */
export interface IssueTrackers {
  readonly url: string;
  readonly issues: readonly StoredIssue[];
  readonly requests: () => number;
  /** Answers all requests so from now on; undefined: as the vendor. */
  answer(reply?: Reply): void;
  /** Answers nothing until it is released. */
  hold(): { readonly asked: Promise<void>; release(): void };
  closeIssue(number: number): void;
  close(): Promise<void>;
}

export const TRACKER_TOKEN = 'token-of-the-tracker';
export const TRACKER_ACCOUNT = 'bot@northwind.example';
const BASIC = `Basic ${Buffer.from(`${TRACKER_ACCOUNT}:${TRACKER_TOKEN}`).toString('base64')}`;

export async function startIssueTrackers(): Promise<IssueTrackers> {
  const issues: StoredIssue[] = [];
  let fixed: Reply | undefined;
  let held: Promise<void> = Promise.resolve();
  let tellAsked = (): void => {};
  let requests = 0;
  // eslint-disable-next-line typescript/no-explicit-any -- bodies of any shape arrive
  const add = (vendor: StoredIssue['vendor'], body: any): StoredIssue => {
    const issue = { vendor, number: issues.length + 41, body, isClosed: false };
    issues.push(issue);
    return issue;
  };
  const findIssue = (path: string, pattern: RegExp): StoredIssue | undefined => {
    const [, number] = pattern.exec(path) ?? [];
    return issues.find((issue) => String(issue.number) === number);
  };

  // eslint-disable-next-line typescript/no-explicit-any -- as above
  const github = ({ method, headers }: IncomingMessage, path: string, body: any): Reply => {
    const refuse = (status: number, message: string, more = {}): Reply => {
      return {
        status,
        body: { message, documentation_url: 'https://docs.github.com/rest', status: String(status), ...more },
      };
    };
    if (headers['user-agent'] === undefined) return { status: 403, body: 'Request forbidden by administrative rules.' };
    if (headers.authorization !== `Bearer ${TRACKER_TOKEN}`) return refuse(401, 'Bad credentials');
    if (!path.startsWith('repos/acme/shop')) return refuse(404, 'Not Found');
    const view = ({ number, isClosed }: StoredIssue) => {
      const html_url = `https://github.example.com/acme/shop/issues/${number}`;
      return { id: number * 1_000, number, html_url, state: isClosed ? 'closed' : 'open', title: body?.title };
    };
    if (method === 'GET') {
      if (path === 'repos/acme/shop') return { status: 200, body: { id: 7, full_name: 'acme/shop', has_issues: true } };
      const issue = findIssue(path, /issues\/(\d+)$/);
      return issue === undefined ? refuse(404, 'Not Found') : { status: 200, body: view(issue) };
    }
    if (typeof body.title !== 'string' || body.title === '' || body.title.length > 256) {
      return refuse(422, 'Validation Failed', { errors: [{ resource: 'Issue', code: 'custom', field: 'title' }] });
    }
    return { status: 201, body: view(add('github', body)) };
  };

  // eslint-disable-next-line typescript/no-explicit-any -- as above
  const gitlab = ({ method, headers }: IncomingMessage, path: string, body: any): Reply => {
    if (headers['private-token'] !== TRACKER_TOKEN) return { status: 401, body: { message: '401 Unauthorized' } };
    if (!/^projects\/acme%2Fshop(?:\/|$)/.test(path))
      return { status: 404, body: { message: '404 Project Not Found' } };
    const view = ({ number, isClosed }: StoredIssue) => {
      const web_url = `https://gitlab.example.com/acme/shop/-/issues/${number}`;
      return { id: number * 1_000, iid: number, web_url, state: isClosed ? 'closed' : 'opened' };
    };
    if (method === 'GET') {
      if (path === 'projects/acme%2Fshop') return { status: 200, body: { id: 7, path_with_namespace: 'acme/shop' } };
      const issue = findIssue(path, /issues\/(\d+)$/);
      return issue === undefined
        ? { status: 404, body: { message: '404 Not found' } }
        : { status: 200, body: view(issue) };
    }
    if (body.title.length > 255) {
      return { status: 400, body: { message: { title: ['is too long (maximum is 255 characters)'] } } };
    }
    return { status: 201, body: view(add('gitlab', body)) };
  };

  // eslint-disable-next-line typescript/no-explicit-any -- as above
  const jira = ({ method, headers }: IncomingMessage, path: string, body: any): Reply => {
    const refuse = (status: number, errors: object, ...errorMessages: string[]): Reply => {
      return { status, body: { errorMessages, errors } };
    };
    if (headers.authorization !== BASIC)
      return { status: 401, body: 'Client must be authenticated to access this resource.' };
    if (method === 'GET') {
      if (path === 'project/SHOP') return { status: 200, body: { id: '10000', key: 'SHOP', name: 'Shop' } };
      const issue = findIssue(path, /^issue\/SHOP-(\d+)\?fields=status$/);
      if (issue === undefined) return refuse(404, {}, 'Issue does not exist or you do not have permission to see it.');
      const status = issue.isClosed
        ? { name: 'Done', statusCategory: { key: 'done' } }
        : { name: 'In Progress', statusCategory: { key: 'indeterminate' } };
      return { status: 200, body: { id: '1', key: `SHOP-${issue.number}`, fields: { status } } };
    }
    const { project, issuetype, summary, description } = body.fields;
    if (project.key !== 'SHOP') return refuse(400, { project: 'valid project is required' });
    if (issuetype.name === 'Incident') return refuse(400, { customfield_10010: 'Impact is required.' });
    if (issuetype.name !== 'Bug') return refuse(400, { issuetype: 'Specify a valid issue type' });
    if (/\n/.test(summary))
      return refuse(400, { summary: 'The summary is invalid because it contains newline characters.' });
    if (!isDocument(description)) return refuse(400, { description: 'Operation value must be an Atlassian Document' });
    const { number } = add('jira', body);
    return {
      status: 201,
      body: { id: '10001', key: `SHOP-${number}`, self: `https://jira.example.com/rest/api/3/issue/1` },
    };
  };

  const vendors = { '/github/api/v3/': github, '/gitlab/api/v4/': gitlab, '/jira/rest/api/3/': jira };
  const server = createServer((request, response) => {
    void text(request).then(async (body) => {
      requests += 1;
      tellAsked();
      await held;
      const { url = '' } = request;
      const [base, vendor] = Object.entries(vendors).find(([path]) => url.startsWith(path)) ?? ['', null];
      const {
        status,
        body: answer,
        headers,
      } = fixed ??
        vendor?.(request, url.slice(base.length), body === '' ? null : JSON.parse(body)) ?? { status: 404, body: 'no' };
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    issues,
    requests: () => requests,
    answer: (reply) => void (fixed = reply),
    hold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      const { promise: asked, resolve: tell } = Promise.withResolvers<void>();
      tellAsked = tell;
      const release = (): void => {
        held = Promise.resolve();
        resolve();
      };
      return { asked, release };
    },
    closeIssue(number) {
      for (const issue of issues) if (issue.number === number) issue.isClosed = true;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Whether it is a document of Atlassian: each text has letters, and each node a kind that exists. */
// eslint-disable-next-line typescript/no-explicit-any -- as above
function isDocument(node: any): boolean {
  // eslint-disable-next-line typescript/no-explicit-any -- as above
  const isNode = ({ type, text: words, content = [] }: any): boolean =>
    type === 'text' ? words !== '' : ['paragraph', 'codeBlock'].includes(type) && content.every(isNode);
  return node?.type === 'doc' && node.version === 1 && node.content.every(isNode);
}
