// @vitest-environment happy-dom
import { Component, type ComponentType, type ReactNode } from 'react';
import { createRoot, type Root } from 'react-dom/client';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { lazyPart } from '#console/components/lazy_part.tsx';

let host: HTMLElement;
let root: Root;
beforeEach(() => {
  host = document.body.appendChild(document.createElement('div'));
  root = createRoot(host);
});
afterEach(() => {
  root.unmount();
  host.remove();
});

const text = (): string => host.textContent;

/** Waits for tasks, not for time: what React held back for 300 ms would not be there. */
async function until(isSo: () => boolean): Promise<void> {
  for (let task = 0; task < TASKS_MAX && !isSo(); task += 1) {
    await new Promise<void>((resolve) => {
      setImmediate(resolve);
    });
  }
}

/** Far more than React takes to render; they take some ten milliseconds. */
const TASKS_MAX = 1_000;

async function expectText(wanted: string): Promise<void> {
  await until(() => text() === wanted);
  expect(text()).toBe(wanted);
}

interface PartProps {
  readonly name: string;
}

/** A part whose files the test delivers or loses, one for each time that it is loaded. */
function partWithFiles() {
  const files: PromiseWithResolvers<ComponentType<PartProps>>[] = [];
  const Part = lazyPart<PartProps>(() => {
    const file = Promise.withResolvers<ComponentType<PartProps>>();
    files.push(file);
    return file.promise;
  });
  return { Part, files, deliver: () => files.at(-1)?.resolve(({ name }) => <p>Hello {name}</p>) };
}

class Boundary extends Component<{ readonly children: ReactNode }, { readonly error: Error | null }> {
  override readonly state: { readonly error: Error | null } = { error: null };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): ReactNode {
    return this.state.error === null ? this.props.children : <p>{this.state.error.message}</p>;
  }
}

test('a part is shown once its file is there, without any time passing', async () => {
  const { Part, files, deliver } = partWithFiles();
  root.render(<Part name="Ann" whileLoading={<p>Loading</p>} />);
  await expectText('Loading');
  await until(() => files.length === 1);
  deliver();
  await expectText('Hello Ann');
  expect(files).toHaveLength(1);
});

test('a part whose file was loaded before is shown at once, and its file is asked for once', async () => {
  const { Part, files, deliver } = partWithFiles();
  Part.preload();
  Part.preload();
  deliver();
  await files[0]?.promise;
  const seen: string[] = [];
  const observer = new MutationObserver(() => seen.push(text()));
  observer.observe(host, { subtree: true, childList: true });
  root.render(<Part name="Ann" whileLoading={<p>Loading</p>} />);
  await expectText('Hello Ann');
  observer.disconnect();
  expect(seen).not.toContain('Loading');
  expect(files).toHaveLength(1);
});

test('a part whose file is lost fails as a page does, and is loaded again the next time', async () => {
  vi.spyOn(console, 'error').mockImplementation(() => {});
  const { Part, files, deliver } = partWithFiles();
  const page = (key: number) => (
    <Boundary key={key}>
      <Part name="Ann" />
    </Boundary>
  );
  root.render(page(1));
  await until(() => files.length === 1);
  files[0]?.reject(new TypeError('Failed to fetch'));
  await expectText('Failed to fetch');
  root.render(page(2));
  await until(() => files.length === 2);
  deliver();
  await expectText('Hello Ann');
  expect(files).toHaveLength(2);
});
