import { Fragment, type ReactNode } from 'react';

import { withoutBidiControls } from '#console/components/text/bidi.ts';
import classes from '#console/components/text/name.module.css';

/** Name that people chose. It is cut with an ellipsis and does not change the direction of the text around it. */
export function Name({ children }: { readonly children: string }) {
  return (
    <bdi className={classes.name} title={children}>
      {withoutBidiControls(children)}
    </bdi>
  );
}

/** Renders a sentence with names in it: named`Remove ${name}?`. */
export function named(texts: TemplateStringsArray, ...names: readonly string[]): ReactNode {
  return texts.map((text, index) => {
    const name = names[index];
    return (
      // The parts of a sentence never change places.
      // eslint-disable-next-line react/no-array-index-key
      <Fragment key={index}>
        {text}
        {name !== undefined && <Name>{name}</Name>}
      </Fragment>
    );
  });
}

/** Sentence from the server. Names in it do not change the direction of the text around it. */
export function Sentence({ children }: { readonly children: string }) {
  return <bdi dir="ltr">{withoutBidiControls(children)}</bdi>;
}
