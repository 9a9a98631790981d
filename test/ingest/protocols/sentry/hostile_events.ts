/** Events that were made to be expensive to read: what each of them holds, of about the size that is asked for. */
export function hostileEvents(N: number): Readonly<Record<string, string>> {
  const rep = (s: string, n = N): string => s.repeat(Math.max(1, Math.floor(n / s.length)));
  const gen = (f: (i: number) => string, sep = ',', n = N): string => {
    const p: string[] = [];
    let l = 0;
    for (let i = 0; l < n - 100; i++) {
      const s = f(i);
      p.push(s);
      l += s.length + sep.length;
    }
    return p.join(sep);
  };
  const ev = (inner: string) => `{${inner}}`;
  const pad = (s: string, n: number) => (s + 'x'.repeat(n)).slice(0, n);
  const frame = (i: number) =>
    JSON.stringify({
      function: pad(`fn${i}$$Lambda$aaaa lambda$b$1 <a>b__1 `, 256),
      module: pad(`mod${i}.0123456789abcdef0.`, 256),
      filename: pad(`/a/b${i}/0123456789abcdef-0123.abcd.`, 490) + '.js',
      abs_path: '/x',
    });
  const shortFrame = (i: number) => `{"function":"f${i}","module":"m${i}","filename":"a${i}.js"}`;
  const events: Record<string, string> = {
    nan: ev(rep('"":NaN,') + '"":1'),
    nankeys: ev(gen((i) => `"a${i}":NaN`)),
    nanlist: ev('"extra":[' + rep('NaN,') + '1]'),
    inf: ev('"extra":[' + rep('-Infinity,') + '1]'),
    nanstr: ev('"message":NaN,"extra":"' + rep('NaN ') + '"'),
    quotes: ev('"x":NaN,"extra":[' + rep('"",') + '""]'),
    notjson: rep('NaN"'),
    notjson2: '{' + rep('N') + '}',
    notjson3: '{"a":NaN' + rep('"\\\\') + '}',
    uniq: ev(gen((i) => `"${i.toString(36)}":1`)),
    uniqextra: ev('"extra":{' + gen((i) => `"${i.toString(36)}":1`) + '}'),
    uniqtags: ev('"tags":{' + gen((i) => `"${i.toString(36)}":null`) + '}'),
    pairtags: ev('"tags":[' + gen(() => `["a",{}]`) + ']'),
    pairtags2: ev('"tags":[' + gen(() => `["",{"a":1}]`) + ']'),
    objsuniq: ev('"extra":[' + gen((i) => `{"${i.toString(36)}":1}`) + ']'),
    deep: ev('"extra":' + '['.repeat(N / 2) + ']'.repeat(N / 2)),
    deepo: ev('"extra":' + '{"a":'.repeat(N / 6) + '1' + '}'.repeat(N / 6)),
    proto: ev('"extra":{' + rep('"__proto__":{},') + '"a":1}'),
    protodeep: ev('"extra":' + '{"__proto__":'.repeat(N / 14) + '1' + '}'.repeat(N / 14)),
    hugenum: ev('"extra":[' + '9'.repeat(N) + ']'),
    hugenum2: ev('"timestamp":' + '9'.repeat(N)),
    hugestamp: ev('"timestamp":"' + '9'.repeat(N) + '"'),
    esc: ev('"message":"' + rep('\\u0041') + '"'),
    sur: ev('"message":"' + rep('\\ud800') + '"'),
    ctrl: ev('"message":"' + rep('\\u001b[0m') + '"'),
    exc: ev('"exception":[' + gen((i) => `{"type":"T${i}","value":"v${i}"}`) + ']'),
    exc2: ev('"exception":[' + gen(() => `{}`) + ']'),
    exc3: ev(
      '"exception":[' +
        gen((i) => `{"type":"T${i}","value":"${pad('1 a@b.c 0x12ab /usr/x/y 12:00:00 ' + i + ' ', 8000)}"}`) +
        ']',
    ),
    exc4: ev('"exception":[' + gen((i) => `{"type":"T${i}","value":"${rep('a.b@c-', 8000)}"}`) + ']'),
    exc5: ev('"exception":[' + gen((i) => `{"type":"T${i}","value":"${rep('1:', 8000)}"}`) + ']'),
    exc6: ev('"exception":[' + gen((i) => `{"type":"T${i}","value":"${rep('/a', 8000)}"}`) + ']'),
    exc7: ev('"exception":[' + gen((i) => `{"type":"T${i}","value":"${rep('a\\n', 8000)}"}`) + ']'),
    exc8: ev('"exception":[' + gen((i) => `{"type":"T${i}","value":"${rep('a-', 8000)}"}`) + ']'),
    exc9: ev('"exception":[' + gen((i) => `{"type":"T${i}","value":"${rep('{\\"a\\":', 8000)}"}`) + ']'),
    frames: ev(
      '"exception":[' +
        gen(
          (j) =>
            `{"type":"T","stacktrace":{"frames":[${Array.from({ length: 120 }, (_, i) => frame(i + 1000 * j)).join(',')}]}}`,
        ) +
        ']',
    ),
    sframes: ev(
      '"exception":[' +
        gen(
          (j) =>
            `{"type":"T","stacktrace":{"frames":[${Array.from({ length: 120 }, (_, i) => shortFrame(i + 1000 * j)).join(',')}]}}`,
        ) +
        ']',
    ),
    eframes: ev('"stacktrace":[' + rep('{},') + '{}]'),
    threads: ev('"threads":[' + gen(() => `{"stacktrace":{"frames":[{},{},{}]}}`) + ']'),
    threads2: ev(
      '"threads":[' +
        gen(() => `{"stacktrace":{"frames":[${Array.from({ length: 120 }, () => '{"function":"f"}').join(',')}]}}`) +
        ']',
    ),
    ctxl: ev(
      '"stacktrace":[' +
        gen((i) => `{"function":"f${i}","pre_context":[${Array.from({ length: 300 }, () => '""').join(',')}]}`) +
        ']',
    ),
    crumbs: ev(
      '"breadcrumbs":[' +
        gen((i) => `{"message":"m${i}","timestamp":"2026-01-01T00:00:00Z","data":{"a":1,"token":2}}`) +
        ']',
    ),
    crumbs2: ev(
      '"breadcrumbs":[' + gen(() => `{"data":[${Array.from({ length: 2000 }, () => '{}').join(',')}]}`) + ']',
    ),
    fill: ev(`"message":{"message":"${'{a}'.repeat(2700)}","params":{"a":[${gen((i) => `"${i}"`, ',', 20000)}]}}`),
    fill2: ev(
      `"logentry":{"message":"${'%(a)s'.repeat(1600)}","params":{"a":{${gen((i) => `"k${i}":[[[1,2,3]]]`, ',', 40000)}}}}`,
    ),
    finger: ev(
      `"fingerprint":[${Array.from({ length: 30 }, () => '"{{ default }}"').join(',')},"x"],"exception":[${Array.from({ length: 30 }, (_, j) => `{"type":"T","stacktrace":{"frames":[${Array.from({ length: 120 }, (_, i) => shortFrame(i + 1000 * j)).join(',')}]}}`).join(',')}]`,
    ),
    finger2: ev(
      `"message":"${rep('é', 8000)}","fingerprint":[${Array.from({ length: 30 }, () => `"${'{{message}}'.repeat(18)}"`).join(',')}]`,
    ),
    fingers: ev('"fingerprint":[' + rep('"a",') + '"b"]'),
    name: ev('"extra":{"' + rep('pass') + '":1}'),
    name2: ev('"extra":{"' + rep('a_token_') + '":1}'),
    names: ev('"extra":{' + gen((i) => `"${rep('set-cooki', 2000)}${i}":1`) + '}'),
    rel: ev('"release":"' + rep('1.') + '"'),
    plat: ev('"platform":"' + rep(' ') + '"'),
    dsnmsg: ev('"message":"' + rep('a: ', 8000) + '","exception":[{"type":"a","value":"' + rep('a: ', 8000) + '"}]'),
    blank: ev('"message":"' + rep(' ', 8000) + 'x"'),
    nls: ev('"message":"' + rep('\\n', 8000) + 'x"'),
  };
  return events;
}
