import { UnstyledButton } from '@mantine/core';

import classes from '#console/pages/policies/policy_editor.module.css';
import { POLICY_TEMPLATES } from '#console/pages/policies/policy_templates.ts';

/** What a new policy can begin with. */
export function Templates({ onChoose }: { readonly onChoose: (index: number) => void }) {
  return (
    <section className={classes.templates} aria-label="Begin with">
      {POLICY_TEMPLATES.map(({ title, about }, index) => (
        <UnstyledButton key={title} className={classes.template} onClick={() => onChoose(index)}>
          <span className={classes.templateTitle}>{title}</span>
          <span className={classes.templateAbout}>{about}</span>
        </UnstyledButton>
      ))}
    </section>
  );
}
