import { Fragment, type ReactNode } from 'react';

import { withoutBidiControls } from '#console/components/bidi.ts';
import classes from '#console/components/name.module.css';

/** What people have called something: it ends in an ellipsis where its place does, and turns nothing around it. */
export function Name({ children }: { readonly children: string }) {
  return (
    <bdi className={classes.name} title={children}>
      {withoutBidiControls(children)}
    </bdi>
  );
}

/** A sentence of our own around names: named`Remove ${name}?`. */
export function named(texts: TemplateStringsArray, ...names: readonly string[]): ReactNode {
  return texts.map((text, index) => {
    const name = names[index];
    return (
      // The parts of a sentence stay where they are.
      // eslint-disable-next-line react/no-array-index-key
      <Fragment key={index}>
        {text}
        {name !== undefined && <Name>{name}</Name>}
      </Fragment>
    );
  });
}

/** A sentence of the server, which may hold names: they turn nothing beyond it. */
export function Sentence({ children }: { readonly children: string }) {
  return <bdi dir="ltr">{withoutBidiControls(children)}</bdi>;
}
