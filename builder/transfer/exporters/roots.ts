interface Roots {
	vars: Fields;
	data: unknown;
	turn: Fields;
	stage: Fields;
}

function roots(context: TransitionContext | StageContext): Roots {
	const { conversationContext } = context;
	const vars = { ...VARIABLES, ...conversationContext };
	if ("stage" in context) {
		const { id, name } = context.stage;
		return { vars, data: context.transitionData ?? {}, turn: {}, stage: { id, name } };
	}
	const { currentStage: id, turnCount, lastAssistantMessage, lastToolCalls } = context;
	const turn = { count: turnCount, assistantMessage: lastAssistantMessage ?? "", toolCalls: lastToolCalls ?? [] };
	const stage = { id, name: STAGE_NAMES[id] ?? id, turnCount };
	return { vars, data: conversationContext.transitionData ?? {}, turn, stage };
}

function holds(context: TransitionContext, expression: (r: Roots) => unknown): boolean {
	return settled(() => expression(roots(context))).value === true;
}

/** An expression that fails sets nothing. */
function assign(context: StageContext, variable: string, expression: (r: Roots) => unknown): void {
	const { value, failed } = settled(() => expression(roots(context)));
	if (!failed) context.conversationContext[variable] = value;
}
