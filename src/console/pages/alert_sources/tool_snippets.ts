export interface SnippetFacts {
  /** Beginning of the addresses of all protocols: `https://tocsin.example.com/api/alerts`. */
  readonly address: string;
  readonly alertKey: string;
  /** Domain at which this server takes mail; null where it takes none. */
  readonly mailDomain: string | null;
}

/** A tool as people know it, and the lines that make it send alerts here. */
export interface Tool {
  readonly value: string;
  readonly label: string;
  /** Protocol that it speaks, and the name of its source where it has one. */
  readonly protocol: string;
  readonly name: string;
  /** Place where the lines belong. */
  readonly where: string;
  text(facts: SnippetFacts): string;
}

const ANY_JSON = 'Send a JSON object to this URL by POST. The mapping of its source says what is what.';

const webhook = (name: string, label: string, where: string): Tool => ({
  value: name,
  label,
  protocol: 'webhook',
  name,
  where,
  text: ({ address, alertKey }) => `${address}/webhook/${alertKey}/${name}`,
});

const mail = (name: string, label: string): Tool => ({
  value: `mail ${name}`,
  label: `${label}, by mail`,
  protocol: 'mail',
  name,
  where: 'Among the aliases of the mail server that you have; or as its contact where this server takes mail itself.',
  text({ address, alertKey, mailDomain }) {
    const pipe = `alerts: "|curl -sf --data-binary @- ${address}/mail/${alertKey}/${name} || exit 75"`;
    if (mailDomain === null) return `${pipe}\n# This server takes no mail itself: that needs MAIL_IN_PORT.`;
    return `${pipe}\n# Or write to this server itself:\n${alertKey}+${name}@${mailDomain}`;
  },
});

/** Tools with their snippets, the most common ones first. */
export const TOOLS: readonly Tool[] = [
  {
    value: 'alertmanager',
    label: 'Alertmanager',
    protocol: 'alertmanager',
    name: '',
    where: 'In alertmanager.yml. Name the receiver in a route, too.',
    text: ({ address, alertKey }) =>
      [
        'receivers:',
        '  - name: tocsin',
        '    webhook_configs:',
        `      - url: ${address}/alertmanager`,
        `        http_config: { authorization: { credentials: ${alertKey} } }`,
      ].join('\n'),
  },
  {
    value: 'grafana',
    label: 'Grafana',
    protocol: 'grafana',
    name: '',
    where: 'Under Alerting, Contact points: a new one of the type Webhook with this URL.',
    text: ({ address, alertKey }) => `${address}/grafana/${alertKey}`,
  },
  {
    value: 'prometheus',
    label: 'Prometheus, without an Alertmanager',
    protocol: 'prometheus',
    name: '',
    where: 'In prometheus.yml.',
    text({ address, alertKey }) {
      const { protocol, host, pathname } = new URL(address);
      return [
        'alerting:',
        '  alertmanagers:',
        `    - scheme: ${protocol.replace(':', '')}`,
        `      path_prefix: ${pathname}/prometheus`,
        `      basic_auth: { username: any, password: ${alertKey} }`,
        `      static_configs: [{ targets: ['${host}'] }]`,
      ].join('\n');
    },
  },
  {
    value: 'vmalert',
    label: 'vmalert',
    protocol: 'prometheus',
    name: '',
    where: 'Among its flags.',
    text: ({ address, alertKey }) =>
      [
        `-notifier.url=${address}/prometheus`,
        '-notifier.basicAuth.username=any',
        `-notifier.basicAuth.password=${alertKey}`,
      ].join('\n'),
  },
  {
    value: 'pagerduty',
    label: 'Anything that speaks to PagerDuty',
    protocol: 'pagerduty',
    name: '',
    where: 'Use this address in place of https://events.pagerduty.com/v2/enqueue, and the key as routing key.',
    text: ({ address, alertKey }) => `${address}/pagerduty/v2/enqueue\nrouting_key: ${alertKey}`,
  },
  {
    value: 'opsgenie',
    label: 'Anything that speaks to Opsgenie',
    protocol: 'opsgenie',
    name: '',
    where: 'Use this address in place of https://api.opsgenie.com, and the key as API key.',
    text: ({ address, alertKey }) => `${address}/opsgenie\nAuthorization: GenieKey ${alertKey}`,
  },
  {
    value: 'jsm',
    label: 'Anything that speaks to Jira Service Management',
    protocol: 'opsgenie',
    name: '',
    where:
      'Use this address in place of https://api.atlassian.com/jsm/ops/integration/v2/alerts, and the key as API key.',
    text: ({ address, alertKey }) => `${address}/jsm/ops/integration/v2/alerts\nAuthorization: GenieKey ${alertKey}`,
  },
  {
    value: 'victorops',
    label: 'Anything that speaks to VictorOps or Splunk On-Call',
    protocol: 'victorops',
    name: '',
    where: 'The address of the REST endpoint; the last part is a routing key of your choice.',
    text: ({ address, alertKey }) => `${address}/victorops/${alertKey}/default`,
  },
  webhook('uptime-kuma', 'Uptime Kuma', 'A notification of the type Webhook with this URL.'),
  webhook('healthchecks', 'Healthchecks', 'An integration of the type Webhook with this URL, for down and up.'),
  {
    value: 'zabbix',
    label: 'Zabbix',
    protocol: 'opsgenie',
    name: '',
    where: 'Parameters of the media type Opsgenie.',
    text: ({ address, alertKey }) =>
      `opsgenie_api: ${address}/opsgenie/v2/alerts/\nopsgenie_token: ${alertKey}\nopsgenie_web: any address`,
  },
  webhook('icinga', 'Icinga', 'In the script of a notification command that posts JSON.'),
  mail('icinga', 'Icinga 2'),
  mail('nagios', 'Nagios'),
  mail('monit', 'Monit'),
  mail('xymon', 'Xymon'),
  mail('smokeping', 'SmokePing'),
  mail('any', 'Anything else'),
  webhook('checkmk', 'Checkmk', 'In a notification script that posts JSON.'),
  webhook('gatus', 'Gatus', 'In alerting.custom.url.'),
  webhook('sentry', 'Sentry', 'As the webhook URL of an internal integration.'),
  webhook('better-stack', 'Better Stack', 'As the URL of an outgoing webhook.'),
  webhook('github', 'GitHub', 'As the payload URL of a webhook of the repository, content type JSON.'),
  {
    value: 'any',
    label: 'Any JSON',
    protocol: 'webhook',
    name: '',
    where: ANY_JSON,
    text: ({ address, alertKey }) => `${address}/webhook/${alertKey}`,
  },
  {
    value: 'curl',
    label: 'A script, with curl',
    protocol: 'events',
    name: '',
    where: 'In a shell.',
    text: ({ address, alertKey }) =>
      [
        `curl ${address}/events \\`,
        `  -H 'Authorization: Bearer ${alertKey}' -H 'Content-Type: application/json' \\`,
        `  -d '{"dedupKey":"disk-db-1","title":"Disk of db-1 is full","severity":"critical"}'`,
      ].join('\n'),
  },
];

/** A tool, and the name of its source, which keeps several of one kind apart. */
export interface ChosenTool {
  readonly tool: Tool;
  readonly name: string;
}

/** Returns the tool whose lines a source of this protocol and name needs. */
export function toolOfSource({ protocol, name }: { readonly protocol: string; readonly name: string }): ChosenTool {
  const speaking = TOOLS.filter((tool) => tool.protocol === protocol);
  const tool = speaking.find((candidate) => candidate.name === name);
  if (tool !== undefined) return { tool, name };
  if (protocol === 'webhook' && name !== '') {
    return { tool: { ...webhook(name, `Any JSON, ${name}`, ANY_JSON), value: `webhook ${name}` }, name };
  }
  return { tool: speaking[0] ?? firstTool(), name };
}

export function firstTool(): Tool {
  const [tool] = TOOLS;
  if (tool === undefined) throw new Error('there are tools');
  return tool;
}
