import { expect, test } from 'vitest';

import { findPublicUrlFault, findUrlFault } from '#kernel/url_fault.ts';

test.each([
  'http://tocsin:pa\\ss@clickhouse:8123/db',
  'smtp://pager:pa\tss@mail.example.com:587',
  'smtp://pager:pa#ss/w%rd@mail.example.com:587',
  'smtp://pager:12#34@mail.example.com',
  'smtp://pager:pa/ss@mail.example.com:587',
  'smtp://pager:12/34@mail.example.com:587',
  'smtp://pager:12?34@mail.example.com:587',
  'smtp://pager:100%@mail.example.com',
  'postgres://tocsin:12#34@db.example.com/tocsin',
  'postgres://tocsin:12/34@db.example.com/tocsin',
  'redis://:12/34@cache.example.com:6379',
  'http://tocsin:12#34@clickhouse.example.com:8123/tocsin',
  'http://tocsin:12/34@clickhouse.example.com:8123/tocsin',
  'http://tocsin:pa?ss@clickhouse.example.com:8123/tocsin',
])('an address with a password that is not escaped is found: %s', (url) => {
  const fault = findUrlFault(url);
  expect(fault).toContain('escape special characters');
  for (const part of ['pa', '12', '34', 'pager', 'tocsin', 'example']) {
    expect(fault!.replaceAll('password', '')).not.toMatch(new RegExp(`\\b${part}\\b`));
  }
});

test.each([
  'smtp://mail.example.com',
  'smtp://pager%40example.com:pa%23ss%2Fw%25rd@mail.example.com:587',
  'smtp://pager@example.com:secret@mail.example.com:587',
  'smtps://[2001:db8::1]:465',
  'postgres:///tocsin?host=/var/run/postgresql',
  'postgresql://tocsin:secret@one.example.com:5432,two.example.com:5432/tocsin?target_session_attrs=read-write',
  'redis+sentinel://:secret@one:26379,two:26379/master/0',
  'http://tocsin:secret@one:8123,two:8123/tocsin',
  'https://ping.example.com/p/@me?mail=ann@example.com',
  'http://localhost:3000/@me',
  'http://tocsin_app:8080',
])('an address that means what it says is taken: %s', (url) => {
  expect(findUrlFault(url)).toBeNull();
});

test.each(['smtp://mail.example.com:99999', 'http://one:8123,two:81234/tocsin'])(
  'no port is beyond 65535: %s',
  (url) => {
    expect(findUrlFault(url)).not.toBeNull();
  },
);

test.each(['smtp://', 'smtp://:25', 'smtp://pager:secret@:587', 'redis://:6379/0', 'http://one:8123,:8123/tocsin'])(
  'an address names a host: %s',
  (url) => {
    expect(findUrlFault(url)).toBe('names no host');
  },
);

test.each(['https://ops.example.com/tocsin/', 'http://[2001:db8::1]:3000'])('%s can be the public address', (url) => {
  expect(findPublicUrlFault(url)).toBeNull();
});

test.each([
  ['https://ann:secret@ops.example.com', 'user or a password'],
  ['https://ops.example.com/?a=1', 'links go on behind it'],
  ['https://ops.example.com/#/', 'links go on behind it'],
  ['https://one,two/', 'one host'],
  ['https://ops.example.com:70000', 'not a valid URL'],
])('%s cannot be the public address: %s', (url, fault) => {
  expect(findPublicUrlFault(url)).toContain(fault);
});
