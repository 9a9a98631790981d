/** A request as the tool itself would send it, below the addresses of all protocols. */
export interface TestRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Body, sent as JSON unless it is a text. */
  readonly body: unknown;
}

/** A test alert: what raises it, and what takes it back. */
export interface TestAlert {
  readonly title: string;
  readonly trigger: TestRequest;
  readonly resolve: TestRequest;
}

interface TestOptions {
  readonly protocol: string;
  readonly name: string;
  readonly alertKey: string;
  /** Tells tests apart. */
  readonly id: string;
  readonly now: Date;
}

/** Returns a test alert in the protocol of a source, so that its routes and settings apply to it. */
export function testAlert(options: TestOptions): TestAlert {
  const { protocol, name, alertKey, id, now } = options;
  const title = `Test alert ${id}`;
  const bearer = { authorization: `Bearer ${alertKey}` };
  const request = (path: string, body: unknown, headers: Readonly<Record<string, string>> = {}): TestRequest => ({
    path,
    headers,
    body,
  });
  switch (protocol) {
    case 'alertmanager':
    case 'grafana': {
      const webhook = (status: string, at: string) =>
        request(`/${protocol}`, webhookBody({ name, title, id, status, at }), bearer);
      return {
        title,
        trigger: webhook('firing', secondsBefore(now, 20)),
        resolve: webhook('resolved', secondsBefore(now, 10)),
      };
    }
    case 'prometheus': {
      const path = '/prometheus/api/v2/alerts';
      // Both are in the past by the clock of the server, however exactly it is known here.
      const alert = { labels: { alertname: title, severity: 'critical' }, startsAt: secondsBefore(now, 20) };
      return {
        title,
        trigger: request(path, [alert], bearer),
        resolve: request(path, [{ ...alert, endsAt: secondsBefore(now, 10) }], bearer),
      };
    }
    case 'pagerduty': {
      const event = { routing_key: alertKey, dedup_key: id };
      const payload = { summary: title, source: 'console', severity: 'critical' };
      return {
        title,
        trigger: request('/pagerduty/v2/enqueue', { ...event, event_action: 'trigger', payload }),
        resolve: request('/pagerduty/v2/enqueue', { ...event, event_action: 'resolve' }),
      };
    }
    case 'opsgenie': {
      const key = { authorization: `GenieKey ${alertKey}` };
      return {
        title,
        trigger: request('/opsgenie/v2/alerts', { message: title, alias: id, priority: 'P1' }, key),
        resolve: request(`/opsgenie/v2/alerts/${id}/close?identifierType=alias`, {}, key),
      };
    }
    case 'victorops': {
      const message = (type: string) =>
        request(`/victorops/${alertKey}/test`, { message_type: type, entity_id: id, entity_display_name: title });
      return { title, trigger: message('CRITICAL'), resolve: message('RECOVERY') };
    }
    case 'mail': {
      const path = `/mail/${alertKey}${name === '' ? '' : `/${encodeURIComponent(name)}`}`;
      const written = (state: string) =>
        request(path, `From: test@console\nSubject: [${state}] ${title}\n\nSent from the console.\n`, {
          'content-type': 'message/rfc822',
        });
      return { title, trigger: written('CRITICAL'), resolve: written('RECOVERY') };
    }
    default: {
      const event = { dedupKey: id, tool: 'Test from the console' };
      return {
        title,
        trigger: request('/events', { ...event, title, severity: 'critical' }, bearer),
        resolve: request('/events', { ...event, action: 'resolve' }, bearer),
      };
    }
  }
}

function secondsBefore(now: Date, seconds: number): string {
  return new Date(now.getTime() - seconds * 1_000).toISOString();
}

function webhookBody({
  name,
  title,
  id,
  status,
  at,
}: {
  readonly name: string;
  readonly title: string;
  readonly id: string;
  readonly status: string;
  readonly at: string;
}) {
  const labels = { alertname: title, severity: 'critical' };
  const times = status === 'resolved' ? { startsAt: at, endsAt: at } : { startsAt: at };
  return {
    version: '4',
    receiver: 'test',
    status,
    groupKey: `{}:{alertname="${title}"}`,
    ...(name !== '' && { externalURL: `http://${name}` }),
    alerts: [{ status, labels, annotations: {}, fingerprint: id, ...times }],
  };
}
