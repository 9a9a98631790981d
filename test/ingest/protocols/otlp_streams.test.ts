import { describe, expect, test } from 'vitest';

import { finish } from '#kernel/cooperative_task.ts';
import { decodeOtlpMetrics, encodeOtlpAnswer } from '#ingest/protocols/otlp_metrics.ts';
import {
  bytes,
  double,
  fixed64,
  freshLimits,
  message as field,
  NOW,
  NOW_MS,
  shortOf,
  textAttribute,
} from '#test/ingest/metric_bytes.ts';

const JSON_TYPE = 'application/json';
const decode = (body: Buffer) => finish(decodeOtlpMetrics(body, 'application/x-protobuf', NOW, freshLimits()));
const decodeJson = (body: unknown, limits = freshLimits()) =>
  finish(decodeOtlpMetrics(Buffer.from(JSON.stringify(body)), JSON_TYPE, NOW, limits));
const TIME = BigInt(NOW_MS) * 1_000_000n;
const point = (...fields: Buffer[]) => Buffer.concat([fixed64(3, TIME), ...fields]);
const gauge = (name: string, ...points: Buffer[]) =>
  field(2, bytes(1, name), field(5, ...points.map((sent) => bytes(1, sent))));

describe('streams (OpenTelemetry data model: resource and scope are part of the identity)', () => {
  const resource = (name: string, value: string) => ({ key: name, value: { stringValue: value } });
  const at = String(TIME);
  const available = (attributes: readonly object[], value: number, scope?: object, name = 'up') => ({
    resource: { attributes },
    scopeMetrics: [
      {
        // The scope may stand behind its metrics.
        metrics: [{ name, gauge: { dataPoints: [{ timeUnixNano: at, asInt: String(value) }] } }],
        ...(scope !== undefined && { scope }),
      },
    ],
  });
  const message = (decoded: ReturnType<typeof decodeJson>) =>
    JSON.parse(encodeOtlpAnswer(decoded, JSON_TYPE).body.toString()).partialSuccess?.errorMessage;

  test.each([
    'k8s.deployment.name',
    'k8s.container.name',
    'k8s.node.name',
    'postgresql.database.name',
    'mysql.instance.endpoint',
    'cloud.region',
    'host.id',
    'faas.instance',
    'k8s.pod.uid',
    'container.name',
    'device.id',
    'vcs.repository.name',
    'cicd.worker.id',
    'some.attribute.of.ours',
  ])('two resources that differ in %s are two series', (name) => {
    const decoded = decodeJson({
      resourceMetrics: [available([resource(name, 'web')], 0), available([resource(name, 'api')], 3)],
    });
    expect(shortOf(decoded)).toEqual([`up{${name}=web} 0 gauge`, `up{${name}=api} 3 gauge`]);
    expect(message(decoded)).toBeUndefined();
  });

  test('an attribute of the resource tells streams apart where their points have one of the same name', () => {
    const ofHost = (host: string, attributes: readonly object[]) => ({
      resource: { attributes: [resource('host.name', host)] },
      scopeMetrics: [
        { metrics: [{ name: 'up', gauge: { dataPoints: [{ timeUnixNano: at, asInt: '1', attributes }] } }] },
      ],
    });
    const peer = [resource('host.name', 'peer'), resource('z', '1')];
    const decoded = decodeJson({ resourceMetrics: [ofHost('a', peer), ofHost('b', peer), ofHost('peer', peer)] });
    expect(shortOf(decoded)).toEqual([
      'up{host.name=peer,resource_host.name=a,z=1} 1 gauge',
      'up{host.name=peer,resource_host.name=b,z=1} 1 gauge',
      'up{host.name=peer,z=1} 1 gauge',
    ]);
    expect(message(decoded)).toBeUndefined();
  });

  test.each([
    'telemetry.sdk.version',
    'os.description',
    'redis.version',
    'device.model.name',
    'vcs.ref.head.revision',
    'k8s.pod.labels.pod-template-hash',
  ])('what only describes a sender is no label, and two resources that differ in %s are told', (name) => {
    const decoded = decodeJson({
      resourceMetrics: [available([resource(name, 'a')], 0), available([resource(name, 'b')], 3)],
    });
    expect(shortOf(decoded)).toEqual(['up 0 gauge', 'up 3 gauge']);
    expect(message(decoded)).toMatch(/^1 metric has series that several streams of this request share.*: up\./);
    expect(decoded.shared).toEqual({ count: 1, named: ['up'] });
  });

  test('the version tells instances apart where nothing else does', () => {
    const of = (...attributes: object[]) => shortOf(decodeJson({ resourceMetrics: [available(attributes, 1)] }))[0];
    const version = resource('service.version', '1.2');
    expect(of(version)).toBe('up{service.version=1.2} 1 gauge');
    expect(of(version, resource('host.name', 'a'))).toBe('up{host.name=a} 1 gauge');
    expect(of(version, resource('service.instance.id', 'i'))).toBe('up{service.instance.id=i} 1 gauge');
  });

  test('two scopes are two series, by name and attributes', () => {
    const scopes = [{ name: 'pool-a' }, { name: 'pool-b' }, { name: 'pool-b', attributes: [resource('shard', '2')] }];
    const decoded = decodeJson({ resourceMetrics: scopes.map((scope) => available([], 1, scope)) });
    expect(shortOf(decoded)).toEqual([
      'up{otel_scope_name=pool-a} 1 gauge',
      'up{otel_scope_name=pool-b} 1 gauge',
      'up{otel_scope_name=pool-b,otel_scope_shard=2} 1 gauge',
    ]);
  });

  test.each(['version', 'schemaUrl'])(
    'two scopes of one name that differ in %s are two series, in any order',
    (field) => {
      const label = field === 'version' ? 'otel_scope_version' : 'otel_scope_schema_url';
      const of = (text: string | undefined, value: number) => {
        const { resource: sender, scopeMetrics } = available([], value, {
          name: 'http',
          version: field === 'version' ? text : '',
        });
        return {
          resource: sender,
          scopeMetrics: scopeMetrics.map((scope) => ({ ...scope, schemaUrl: field === 'version' ? '' : text })),
        };
      };
      const [a, b] = [of('1.0', 1), of('2.0', 2)];
      for (const resourceMetrics of [
        [a, b],
        [b, a],
        [of(undefined, 1), b],
      ]) {
        const decoded = decodeJson({ resourceMetrics });
        expect(decoded.shared).toEqual({ count: 0, named: [] });
        expect(new Set(shortOf(decoded)).size).toBe(2);
        expect(shortOf(decoded)).toContain(`up{otel_scope_name=http,${label}=2.0} 2 gauge`);
      }
      expect(shortOf(decodeJson({ resourceMetrics: [a] }))).toEqual(['up{otel_scope_name=http} 1 gauge']);
    },
  );

  test('a new version of a library alone starts no new series, and versions that stood together stay apart', () => {
    const limits = freshLimits();
    const of = (version: string, name = 'http') => available([], 1, { name, version });
    const send = (...resourceMetrics: object[]) => {
      const decoded = decodeJson({ resourceMetrics }, limits);
      decoded.remember();
      return decoded.points.series.map(({ labels }) => labels.join(' '));
    };
    const plain = 'otel_scope_name http';
    expect(send(of('1.0'))).toEqual([plain]);
    expect(send(of('1.1'))).toEqual([plain]);
    const apart = (version: string) => `${plain} otel_scope_version ${version}`;
    expect(send(of('1.1'), of('1.2'), of('3', 'db'))).toEqual([apart('1.1'), apart('1.2'), 'otel_scope_name db']);
    // A collector may split a batch anywhere.
    expect(send(of('1.1'))).toEqual([apart('1.1')]);
    expect(send(of('1.2'))).toEqual([apart('1.2')]);
    const host = { ...of('1.2'), resource: { attributes: [resource('host.name', 'b')] } };
    expect(send(host)).toEqual(['host.name b otel_scope_name http']);
  });

  test('an attribute of a scope that is called as its name, version or schema is left out, and the points are taken', () => {
    const attributes = ['name', 'version', 'schema_url'].map((name) => resource(name, 'x'));
    const decoded = decodeJson({ resourceMetrics: [available([], 1, { name: 'http', version: '1', attributes })] });
    expect(decoded.rejected.count).toBe(0);
    expect(shortOf(decoded)).toEqual(['up{otel_scope_name=http} 1 gauge']);
  });

  test('the version and the schema of a scope are read from protobuf, wherever they stand', () => {
    const of = (version: string, schema: string) => {
      const scope = bytes(1, Buffer.concat([bytes(1, 'http'), bytes(2, version)]));
      return bytes(2, Buffer.concat([bytes(3, schema), gauge('g', point(double(4, 1))), scope]));
    };
    const decoded = decode(bytes(1, Buffer.concat([of('1', 'a'), of('2', 'a'), of('2', 'b')])));
    const label = (version: string, schema: string) =>
      `g{otel_scope_name=http,otel_scope_schema_url=${schema},otel_scope_version=${version}} 1 gauge`;
    expect(shortOf(decoded)).toEqual([label('1', 'a'), label('2', 'a'), label('2', 'b')]);
    expect(decoded.shared?.count).toBe(0);
  });

  test('the scope is read from protobuf, wherever it stands', () => {
    const scope = bytes(1, Buffer.concat([bytes(1, 'pool-a'), textAttribute(3, 'shard', '2')]));
    const metric = gauge('g', point(double(4, 1)));
    for (const fields of [
      [scope, metric],
      [metric, scope],
    ]) {
      const body = bytes(
        1,
        Buffer.concat([bytes(1, textAttribute(1, 'host.name', 'a')), bytes(2, Buffer.concat(fields))]),
      );
      expect(shortOf(decode(body))).toEqual(['g{host.name=a,otel_scope_name=pool-a,otel_scope_shard=2} 1 gauge']);
    }
  });

  test('one resource in two parts of a request is one stream, and two values of one time are told', () => {
    const attributes = [resource('host.name', 'a'), resource('os.type', 'linux')];
    const apart = { resourceMetrics: [available(attributes, 1), available(attributes.toReversed(), 1)] };
    expect(decodeJson(apart).shared).toEqual({ count: 0, named: [] });
    const twice = { resourceMetrics: [available(attributes, 1), available(attributes, 2)] };
    expect(decodeJson(twice).shared).toEqual({ count: 1, named: ['up'] });
  });

  test('attributes beyond what labels may hold are left out, and the points are taken', () => {
    const many = Array.from({ length: 100 }, (_, i) => resource(`a${String(i).padStart(3, '0')}`, 'x'));
    const long = resource('long', 'x'.repeat(2_000));
    const decoded = decodeJson({ resourceMetrics: [available([...many, long, resource('host.name', 'h')], 1)] });
    expect(decoded.rejected.count).toBe(0);
    expect(decoded.points.series[0]?.labels).toHaveLength(2 * 24);
    expect(shortOf(decoded)[0]).toMatch(/^up\{a000=x.*host\.name=h\} 1 gauge$/);
  });
});
