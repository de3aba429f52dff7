/**
 * Why a token is not taken, in words that follow "token": shared by both kinds of tokens and by the data API and the token
 * endpoint, which word their answers around it.
 */
export interface TokenProblem {
  /** E.g. `has expired: request a new one`. */
  readonly problem: string;
  readonly expired?: true;
}

export function isProblem(outcome: object): outcome is TokenProblem {
  return 'problem' in outcome;
}
