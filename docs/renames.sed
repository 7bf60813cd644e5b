# Public names that changed before v0.1.0. To upgrade a program: sed -E -i -f docs/renames.sed *.go
# (GNU sed; on macOS install gnu-sed and type gsed).

# The whole file at once, so that a name that moved to another package brings its import.
:a
N
$!ba
/texttosql\.Failure\(/ s#("github.com/texttosql/texttosql"\n)#\1\t"github.com/texttosql/texttosql/failure"\n#
s/\btexttosql\.Failure\(/failure.Of(/g

s/\btexttosql\.Question\{Evidence: ("[^"]*"|[^{},"]+)\}/texttosql.WithEvidence(\1)/g
s/\btexttosql\.Question\{User: ("[^"]*"|[^{},"]+)\}/texttosql.WithUser(\1)/g
s/([(,] ?|\t)texttosql\.Question\{ID: ("[^"]*"|[^{},"]+)\}/\1texttosql.WithID(\2)/g
s/\b\w+\.Outcomes\((\w+), (eval\.\w+\{[^{}]*\})\.Name\(\)\)/\1.Outcomes(\2)/g
s/\b\w+\.Outcomes\((\w+), "ex_set"\)/\1.Outcomes(eval.EX{})/g
s/\b(llm\.Budget\{[^{}]*)\bTime:/\1Timeout:/g
s/\bBallot\.Summary\(\)/Closing()/g
s/\bWithReveal\b/WithTraceContent/g
s/\bWithHeadline\b/WithSummary/g
s/\bWithAskBelow\b/WithClarifyBelow/g
s/\bstrategy\.Fence\b/strategy.CodeBlock/g
s/\bWhom: strategy\.(Deciding|Decisive)\b/Decisive: true/g
s/\.Whom = strategy\.(Deciding|Decisive)\b/.Decisive = true/g
s/\bstrategy\.Alternate\b/strategy.RotatePrompts/g
s/\bstrategy\.JudgeOptions\((\w+)\)/\1.JudgeOptions()/g
s/\bstrategy\.Failing\(/strategy.Refine{}.Failing(/g
s/\bstrategy\.NewStep\(/(*strategy.Checker)(nil).Step(/g
s/\bpetsql\.(Weights|Panel)FromLabels\(/(petsql.\1{}).FromLabels(/g
s/\bpetsql\.Record\b/struct{ Right, Asked int }/g
s/\bthreephase\.OnAmbiguity\b/string/g
s/\bthreephase\.Ask\b/"ask"/g
s/\bthreephase\.PickTop\b/"pick"/g
s/\bthreephase\.Fail\b/"fail"/g
s/\bagent\.StagedRules\(\)/agent.Staged{}.Rules()/g
s/\bqasql\.Contexts\(\)/(qasql.Strategy{}).DefaultContexts()/g
s/\bstrategy\.PurposeJudge\b/"judge"/g
s/\bstrategy\.PurposeMetric\b/"metric"/g
s/\blinker\.JoinCandidates\(/(linker.Joins{}).Candidates(/g
s/\blinker\.NewIndex\(/(linker.Lexical{}).Index(/g
s/\blinker\.FirstWave\(([^,()]+), ([^()]+)\)/(linker.PerTable{Tables: \2}).FirstWave(\1)/g
s/\bdoubt\.Checked\(\)/(doubt.Rules{}).OfChecks().List/g
s/\bdoubt\.Default\(\)/(doubt.Rules{}).With().List/g
s/\bdoubt\.EmptyAnswerRate\(/(doubt.Rules{}).LearnEmptyRate(/g
s/\.With\(doubt\.Carried\(([^()]+)\)\)/.WithEarlier(\1)/g
s/\bstrategy\.Validator\b/interface{ Validate(samples int) error }/g
s/\bstrategy\.Stater\b/strategy.Voter/g
s/\bstrategy\.MaxSamples\b/10_000/g
s/\bstrategy\.Examiner\b/strategy.Checker/g
s/\bstrategy\.NewExaminer\b/strategy.NewChecker/g
s/\bstrategy\.ErrorLine\(([^()]+), (\w+)\.WithoutValues\)/\2.ErrorLine(\1)/g
s/\bstrategy\.AnswerText\((\w+)\.Text\)/\1.Answer()/g
s/\btrace\.Into\b/trace.NewContext/g
s/\btrace\.From\b/trace.FromContext/g
s/\btrace\.Private\b/trace.Sensitivity/g
s/\btrace\.Public\b/trace.Redact/g
s/\btrace\.Scrub\b/trace.RedactCredentials/g
s/\bllm\.Learner\b/llm.TokenLimitTuner/g
s/\bllm\.Account\b/llm.BudgetTracker/g
s/\bllm\.ClassNoRoom\b/llm.ClassOutOfTokens/g
s/\bllm\.DayLine\b/llm.DatePrompt/g
s/\bvote\.Earliest\b/vote.Ties()/g
s/\bvote\.Doubt\b/vote.Finding/g
s/\bschema\.ModelText\b/schema.FromModel/g
s/\bschema\.LeftOut\b/schema.Omitted/g
s/\bschema\.Fold\b/schema.FoldCase/g
s/\bresult\.Show\b/result.Format/g
s/\bresult\.Sink\b/result.RowWriter/g
s/\b(answer|result|res|r)\.Found\b/\1.Summary/g
s/\bfailure\.None\b/""/g
s/\bfailure\.(Writes|Denied)\b/failure.Refused/g
s/\bfailure\.UnknownName\b/failure.Invalid/g
s/\bfailure\.(NoStatement|Declined)\b/failure.NoAnswer/g
s/\bfailure\.TooLong\b/failure.Provider/g
s/\bfailure\.(Empty|Unguarded)\b/failure.Config/g
s/\bfailure\.(NoModel|Correction)\b/failure.Input/g
s/\bfailure\.State\b/failure.Conflict/g
s/\bmemory\.Pair\b/memory.Exemplar/g
s/\bmemory\.Confirmed\b/memory.VerifiedAnswers/g
s/\bmemory\.OpenConfirmed\b/memory.OpenVerifiedAnswers/g
s/\bmemory\.Options\{([^{}]*)\bConfirmed:/memory.Options{\1VerifiedAnswers:/g
s/\bmemory\.ErrForgotten\b/memory.ErrNotPersisted/g
s/\bmemory\.Shelf\b/memory.LessonStore/g
s/\bmemory\.Recall\b/memory.RetrievedLessons/g
s/\bmemory\.RecallInput\b/memory.Episode/g
s/\bmemory\.FinishedQuestion\b/memory.Episode/g
s/\bmemory\.Attempt\b/struct{ SQL, Missing string }/g
s/\bmemory\.ReadPairs\b/memory.ReadExemplars/g
s/\bmemory\.(PairError|LessonError)\b/memory.FileError/g
s/\bmemory\.LessonKind\b/string/g
s/\bmemory\.TableLesson\b/"table_mapping"/g
s/\bmemory\.ColumnLesson\b/"column_mapping"/g
s/\bmemory\.ErrorLesson\b/"error_pattern"/g
s/\bmemory\.QueryLesson\b/"query_pattern"/g
s/\bmemory\.JoinLesson\b/"join_pattern"/g
s/\bmemory\.GuideLesson\b/"llm_guided"/g
s/\bmemory\.ChoiceLesson\b/"choice"/g
s/\bknowledge\.Ground\b/knowledge.Provenance/g
s/\bknowledge\.Ground(Metric|Term|Verified|ConfirmedBy)\b/knowledge.Provenance\1/g
s/\bGroundOf\(/ProvenanceOf(/g
s/\bAbout: *knowledge\.About\b/Subject: knowledge.Subject/g
s/\bknowledge\.About\b/knowledge.Subject/g
s/\bknowledge\.FaultTable\b/"table"/g
s/\bknowledge\.FaultColumn\b/"column"/g
s/\bknowledge\.FaultKey\b/"key"/g
s/\bknowledge\.FaultRelationship\b/"relationship"/g
s/\bknowledge\.FaultMetric\b/"metric"/g
s/\bknowledge\.FaultTerm\b/"term"/g
s/\bknowledge\.FaultVerified\b/"verified"/g
s/\bknowledge\.ReasonFanOut\b/"fan-out"/g
s/\bknowledge\.ReasonAmbiguous\b/"ambiguous"/g
s/\bknowledge\.ReasonUnknown\b/"unknown"/g
s/\bknowledge\.ReasonUnsupported\b/"unsupported"/g
s/\bknowledge\.ReasonInvalid\b/"invalid"/g
s/\bsession\.Earlier\b/session.PreviousTurn/g
s/\bsession\.Files\b/session.FileStore/g
s/\bsession\.Memory\b/session.MemoryStore/g
s/\bsession\.Holder\b/session.Locker/g
s/\bsession\.ErrHeld\b/session.ErrLocked/g
s/\bsession\.Within\b/session.InScope/g
s/\bsession\.Sweep\b/session.DeleteExpired/g
s/\b(\w+)\.AsText\b/(\1.Correction != nil \&\& \1.Correction.Kind == "natural_language")/g
s/\bsession\.(CorrectionKind|Kind|TurnKind)\b/string/g
s/\bsession\.Initializing\b/session.State("initializing")/g
s/\bsession\.SchemaLoading\b/session.State("schema_loading")/g
s/\bsession\.QueryUnderstanding\b/session.State("query_understanding")/g
s/\bsession\.InferringJoins\b/session.State("inferring_joins")/g
s/\bsession\.GeneratingSQL\b/session.State("generating_sql")/g
s/\bsession\.ExecutingQuery\b/session.State("executing_query")/g
s/\bsession\.TurnQuestion\b/"question"/g
s/\bsession\.TurnFollowUp\b/"follow_up"/g
s/\bsession\.TurnChoice\b/"choice"/g
s/\bsession\.TurnCorrection\b/"correction"/g
s/\bsession\.Turn(Held|Partial)\b/"held"/g
s/\bsession\.TurnConfirmation\b/"confirmation"/g
s/\bsession\.TurnStatement\b/"statement"/g
s/\bsession\.(KindTable|CorrectTable)\b/"table"/g
s/\bsession\.(KindJoin|CorrectJoin)\b/"join"/g
s/\bsession\.KindResult\b/"result"/g
s/\bsession\.KindMeaning\b/"meaning"/g
s/\bsession\.CorrectColumn\b/"column"/g
s/\bsession\.CorrectFilter\b/"filter"/g
s/\bsession\.CorrectLogic\b/"logic"/g
s/\bsession\.CorrectText\b/"natural_language"/g
s/\bsession\.MaxCorrections\b/3/g
s/\bsession\.Version\b/1/g
s#texttosql/texttosql/evaltest"#texttosql/texttosql/texttosqltest"#g
s/\bevaltest\.Read\b/texttosqltest.ReadExpectations/g
s/\bevaltest\./texttosqltest./g
s/\btool\.Name\b/"ask_database"/g
s/\beval\.StatusOK\b/"ok"/g
s/\beval\.StatusRefused\b/"refused"/g
s/\beval\.StatusError\b/"error"/g
s/\beval\.StatusTimeout\b/"timeout"/g
s/\beval\.StatusTooLarge\b/"too_large"/g
s/\beval\.RuleSet\b/"set"/g
s/\beval\.RuleBag\b/"bag"/g
s/\beval\.RuleOrder\b/"order"/g
s/\beval\.RuleStrict\b/"strict"/g
s/\beval\.(Rule|Status)\b/string/g
s/\bllmtest\.Behaviour\b/string/g
s/\bllmtest\.Answers\b/"answers"/g
s/\bllmtest\.Hangs\b/"hangs"/g
s/\bllmtest\.Empties\b/"empties"/g
s/\bllmtest\.Fails\b/"fails"/g
s/\bllmtest\.Busy\b/"busy"/g
s/\bllmtest\.Down\b/"down"/g
s/\bresult\.Format\(/result.Type{}.Format(/g
s/\bresult\.Equal\(/result.Equality{}.Equal(/g
s/\bMode: *result\.(Set|Ordered)\b/\1: true/g
s/\bMode: *result\.Bag\b(, *)?//g
s/\bresult\.ParseDecimal\b/result.Type{Kind: result.KindDecimal}.ParseNumber/g
s/\bresult\.ParseNumber\b/result.Type{}.ParseNumber/g
s/\btrace\.New\(/trace.Tracer{}.New(/g
s/\btrace\.SQL\(/trace.PrivateSQL.Secret(/g
s/\btrace\.StartAt\(ctx, /trace.FromContext(ctx).StartAt(ctx, /g
s/\bText: *schema\.NoText\b/WithoutExpertText: true, WithoutModelText: true/g
s/\bText: *schema\.ExpertText\b/WithoutModelText: true/g
s/\bText: *schema\.FromModel\b/WithoutExpertText: true/g
s/\bText: *schema\.AllText\b(, *)?//g
s/\bschema\.WriteDescriptions\(([^,()]+), ([^,()]+)\)/\2.Write(\1)/g
s/\bllm\.EventRetry\b/"retry"/g
s/\bllm\.EffortMinimal\b/"minimal"/g
s/\bllm\.EffortLow\b/"low"/g
s/\bllm\.EffortMedium\b/"medium"/g
s/\bllm\.EffortHigh\b/"high"/g
s/\bllm\.Effort\b/string/g
s/\b(\w+), err := session\.Decode\(([^,()]+), ([^()]+)\)/var \1 session.Record\nerr := \1.Decode(\2, \3)/g
s/\bexec\.Planned\b/exec.ExplainCheck/g
s/\bexec\.Execute\b/exec.RunCheck/g
s/\bexec\.Odd\b/exec.SuspiciousResultCheck/g
s/\bexec\.EmptyResult\{/exec.SuspiciousResultCheck{EmptyOnly: true/g
s/\bexec\.Caution\b/exec.ResultWarnings/g
s/\bexec\.Opened\b/exec.GuardedConn/g
s/\bexec\.Ruler\b/exec.RowFilterDialect/g
s/\bexec\.RulerConn\b/exec.RowFilterConn/g
s/\bexec\.LooseConn\b/exec.CoercingConn/g
s/\bexec\.Scoper\b/exec.ImpersonatingDialect/g
s/\bexec\.Finisher\b/exec.UseEnder/g
s/\bFinish\((ctx context\.Context|context\.Context)\)/EndUse(\1)/g
s/\bexec\.IsTyped\b/exec.IsClassified/g
s/\bexec\.Names\{(Dialect: *)?([^{}]*(\{\})?)\}/\2.Language().PromptQuoter()/g
s/\bexec\.(PlanKind|Access)\b/string/g
s/\bexec\.FindingAbsent\b/"value-absent"/g
s/\bexec\.FindingNoTable\b/"no-table"/g
s/\bexec\.FindingOdd\b/"odd-"/g
s/\bexec\.FindingString\b/"name-as-string"/g
s/\bexectest\.Payloads\((\w+), (\w+(\(\))?)\)/\2.CheckPayloads(\1)/g
s/\bexectest\.Expectation\b/string/g
s/\bexectest\.AnyReason\b/"any"/g
s/\bguard\.Seen\b/guard.EngineReport/g
s/\bguard\.Spot\b/guard.TablePosition/g
s/\bguard\.Splice\b/guard.RowFilterRewrite/g
s/\bguard\.Splicing\b/guard.RewriteRules/g
s/\bguard\.SpliceOptions\b/guard.RewriteOptions/g
s/\bguard\.Flow\b/guard.LineageEdge/g
s/\bguard\.Drop\b/guard.Discard/g
s/\bguard\.Each\b/guard.QueryEach/g
s/\bguard\.Walked\b/guard.RecoverWalk/g
s/\bguard\.Stop\b/guard.Abort/g
s/\bguard\.Recall\b/guard.QueryOnce/g
s/\bguard\.(RefusedError|InvalidError|PolicyError|Fault|ErrNotReadOnly|ErrNoScope|ReasonScope|ReasonRows|RowSample|SampleOptions)\b/exec.\1/g
s/\bguard\.NoFamily\b/""/g
s/\bguard\.(Any|Number|Float|Text|Time|Bool|Other)Family\b/"\L\1"/g
s/\bguard\.Every\b/guard.Trait{Exact: true, Whole: true, Sorted: true}/g
s/\bguard\.Family\b/string/g
s/\bguard\.Bind\b/func(value any) (any, error)/g
s/\bguard\.Bare\((\w+)\)/s.Splice.RejectRuled(\1)/g
s/\bguard\.NewFinder\(([^()]*)\)/\&guard.Finder{Text: guard.NewText(\1)}/g
s/\bguard\.SplitList\(([^,]+), /\1.SplitList(/g
s/\bguard\.CheckValues\(([^,]+), (\w+)\)/guard.NewText(\1.Parse(\2)).CheckValues()/g
s/\bguard\.AllowValues\(([^,]+), ([^,]+), (\w+)\)/guard.NewText(\1.Parse(\3)).AllowValues(\2)/g
s/\.Answerable\.Nearest\b/.Answerable.Nearest()/g
# Names that moved bring their imports.
/\btexttosql\.(Err(NotReadOnly|NoScope|Busy|Unguarded)|Scope)\b/ {
/texttosql\/exec"\n/! s#("github.com/texttosql/texttosql"\n)#\1\t"github.com/texttosql/texttosql/exec"\n#
}
/\btexttosql\.Err(NoCandidate|EmptyQuestion|Abstained)\b/ {
/texttosql\/strategy"\n/! s#("github.com/texttosql/texttosql"\n)#\1\t"github.com/texttosql/texttosql/strategy"\n#
}
/\bexec\.Finding\b/ {
/texttosql\/vote"\n/! s#("github.com/texttosql/texttosql/exec"\n)#\1\t"github.com/texttosql/texttosql/vote"\n#
}
s/\b(exec|sqltext)\.ReasonTable\b/"table"/g
s/\b(exec|sqltext)\.ReasonColumn\b/"column"/g
s/\b(exec|sqltext)\.ReasonFunction\b/"function"/g
s/\b(exec|sqltext)\.ReasonTooComplex\b/"too-complex"/g
s/\b(exec|sqltext)\.ReasonStatement\b/"statement"/g
s/\b(exec|sqltext)\.ReasonGuard\b/"guard"/g
s/\b(exec|sqltext)\.ReasonScope\b/"scope"/g
s/\b(exec|sqltext)\.ReasonRows\b/"rows"/g
s/\bsqltext\.ReasonEmpty\b/"empty"/g
s/\bsqltext\.ReasonNotReadOnly\b/"not-read-only"/g
s/\bsqltext\.ReasonSeveral\b/"several-statements"/g
s/\bsqltext\.ReasonTooLong\b/"too-long"/g
s/\bsqltext\.Reason\b/string/g
s/\bexec\.Fault(Compile|Constraint|Run|Schema|Syntax)\b/"\L\1"/g
s/\bexec\.Fault\b/string/g
s/errors\.Is\(([^()]+), (texttosql|exec)\.ErrUnguarded\)/errors.As(\1, new(*exec.UnguardedError))/g
s/errors\.Is\(([^()]+), (texttosql|strategy)\.ErrAbstained\)/errors.As(\1, new(*strategy.AbstainedError))/g
s/errors\.Is\(([^()]+), texttosql\.ErrUnanswerable\)/errors.As(\1, new(*texttosql.UnanswerableError))/g
s/\btexttosql\.Err(NoCandidate|EmptyQuestion)\b/strategy.Err\1/g
s/\btexttosql\.Err(NotReadOnly|NoScope|Busy)\b/exec.Err\1/g
s/\btexttosql\.Scope\b/exec.Scope/g
s/\btexttosql\.Batch\{\}/0/g
s/\btexttosql\.Batch\{Parallel: ([^{}]+)\}/\1/g
s/\btexttosql\.PageOptions\{\}/nil, false/g
s/\btexttosql\.PageOptions\{Err: ([^{},]+)\}/\1, false/g
s/\btexttosql\.PageOptions\{Rows: ([^{},]+)\}/nil, \1/g
s/\btexttosql\.PageOptions\{Err: ([^{},]+), Rows: ([^{},]+)\}/\1, \2/g
s/\btrace\.(Started|Ended|Happened|Warned)\b/"\L\1"/g
s/\btrace\.NoticeKind\b/string/g
s/\bschema\.BaseTable\b/"table"/g
s/\bschema\.(View|Virtual)\b/"\L\1"/g
s/\bstrategy\.Purpose(Generate|Repair)\b/"\L\1"/g
s/\bexectest\.(Accept|Refuse|Survive)\b/"\L\1"/g
s/\bknowledge\.ProvenanceConfirmedBy\b/"confirmed-by"/g
s/\bknowledge\.Provenance(Metric|Term|Verified)\b/"\L\1"/g
s/\bknowledge\.Name\(([^,()]+), /(knowledge.Table{Name: \1}).ColumnName(/g
s/\bvote\.Key\b/func(vote.Candidate) (key string, ok bool)/g
s/\bexec\.Finding\b/vote.Finding/g
s/\bllm\.StopReason\b/string/g
s/\bllm\.Role\b/string/g
s/\bknowledge\.Columns\(([^()]+)\)/(knowledge.Column{Expr: \1}).Reads()/g
s/\b(\w+), err := session\.Parse\(([^()]+)\)/var \1 session.Correction\nerr := \1.Parse(\2)/g
s/\*otel\.Recorder\b/texttosql.Telemetry/g
# A package whose names are all words now needs no import.
/\btrace\./! s#\n\t"github.com/texttosql/texttosql/trace"##
/\bsqltext\./! s#\n\t"github.com/texttosql/texttosql/sqltext"##
/\bschema\./! s#\n\t"github.com/texttosql/texttosql/schema"##
/\bstrategy\./! s#\n\t"github.com/texttosql/texttosql/strategy"##
/\bknowledge\./! s#\n\t"github.com/texttosql/texttosql/knowledge"##
/\bexec\./! s#\n\t"github.com/texttosql/texttosql/exec"##
# for our own runners
s#texttosql/texttosql/(replies|answerable|snapshot|describe)"#texttosql/texttosql/internal/\1"#g
s#texttosql/texttosql/meaning"#texttosql/texttosql/internal/summary"#g
s#texttosql/texttosql/llm/wire"#texttosql/texttosql/llm/internal/wire"#g
s#texttosql/texttosql/llm/providers"#texttosql/texttosql/internal/providers"#g
s/\bmeaning\.Stands\b/summary.NumbersSupported/g
s/\bmeaning\.Differences\b/summary.DescribeDifferences/g
s/\bmeaning\.Figures\b/summary.PreviewRows/g
s/\bmeaning\.([A-Z])/summary.\1/g
s/\bmemory\.Masker\b/masking.Masker/g
s/\bmemory\.NewGuard\b/leakguard.New/g
s/\bmemory\.Guard\b/leakguard.Guard/g
s/\beval\.DefaultRows\b/evalbounds.Rows/g
s/\beval\.DefaultBytes\b/evalbounds.Bytes/g
s/\beval\.DefaultTimeout\b/evalbounds.Timeout/g
s/\beval\.(Bootstrap|ByQuestion|ByTemplate|Grouping)\b/stats.\1/g
s/\bsqltext\.(TableRef|ColumnRef|Literal|Comparison|Condition|Select|SelectItem|Outline|Expansion|Repetition|Rewrite|IsReserved|MaxStatement)\b/sqlshape.\1/g
s/\btrace\.Redact\b/redact.Error/g
s/\bllm\.Scrub\b/redact.Line/g
s/\btrace\.(Page|Fact|Section)\b/tracepage.\1/g
s/\bllm\.DatePrompt\b/dateprompt.Line/g
s/\bllm\.ParseDay\b/dateprompt.Parse/g
s/\bsession\.InScope\b/sessionscope.Of/g
s/\bstrategy\.(Omissions|PromptCuts)\b/host.PromptCuts/g
s/\bstrategy\.Host\{/host.Hooks{/g
s/\bstrategy\.RawReport\b/rawreport.Report/g
s/\bstrategy\.Constraints\b/constraints.Check/g
s/\bstrategy\.ReasonNoMetric\b/findings.NoMetric/g
s/\bstrategy\.RuleDoubleCounting\b/findings.DoubleCounting/g
s/\bplanvote\.(AugmentedPrompt|MoreStored|Probing|PublishedProbing|PublishedPrompt|PublishedSchema|PublishedSignature)\b/egtts.\1/g
s/\bdoubt\.Wishes\b/intent.AsksForWrite/g
s/\bdoubt\.Done\b/intent.ReadsInstead/g
s/\bdoubt\.(Excuses|NothingChanged)\b/intent.\1/g
s/\bdoubt\.(Asked|Absent)\b/askedrules.\1/g
s/\bdoubt\.(Answer|Values|Stored)\b/contradict.\1/g
s/\bdoubt\.FindingContradiction\b/findings.Contradiction/g
s/\bstrategy\.OneLine\b/prompttext.OneLine/g
s/\bexec\.(ColumnOf|TextLiterals?)\b/checks.\1/g
s/\bllm\.ErrPanic\b/llmerr.ErrPanic/g
s/\bllm\.ErrAccount\b/llmerr.ErrAccount/g
s/\bllm\.Embed\(/embedding.Call(/g
s/\bschema\.DescriptionsError\b/fileerr.Descriptions/g
s/\bknowledge\.FileError\b/fileerr.Knowledge/g
s/\bmemory\.FileError\b/fileerr.Memory/g
s/\beval\.FileError\b/fileerr.Questions/g
s/\breplay\.LineError\b/fileerr.Recording/g
s/(Consensus\{)WithoutJudge: true(, )?/\1/g
s/(Consensus\{[^}]*), WithoutJudge: true/\1/g
