//! The builds that come out otherwise here, and those that no Composition can be written for.

/// Builds in which something else comes out here, and why.
pub(super) const EXCEPTIONS: &[(&str, &str)] = &[
    (
        "TestTransfomersImageInvalidNameRegexp",
        "a name of images that is not a regular expression matches none; here it is an error",
    ),
    (
        "TestNameUpdateInRoleRef2",
        "a fieldSpec has no `name`: kustomize takes no notice of it; here it is an error",
    ),
];

/// Builds that are left out: what they need, why there is no such thing, and which these are.
pub(super) const LEFT_OUT: &[(&str, &str, &str)] = &[
    (
        "vars",
        "a second mechanism for what the ReplacementTransformer does, which kustomize is to give up",
        "TestIssue3377 \
         TestBasicVariableRef \
         TestVarPropagatesUp \
         TestSimpleServicePortVarReplace \
         TestVarRefBig \
         TestVariableRefIngressBasic \
         TestVariableRefIngressOverlay \
         TestVariableRefMountPath \
         TestVariableRefMaps \
         TestVaribaleRefDifferentPrefix \
         TestVariableRefNFSServer \
         TestDeploymentAnnotations",
    ),
    (
        "buildMetadata",
        "notes in annotations which files and fields made an object; `--show-consolidated` says it of transformers",
        "TestAnnoOriginLocalFiles \
         TestAnnoOriginLocalFilesWithOverlay \
         TestGeneratorWithAnnoOrigin \
         TestAnnoOriginLocalBuiltinGenerator \
         TestAnnoOriginConfigMapGeneratorMerge \
         TestAnnoOriginConfigMapGeneratorReplace \
         TestAnnoOriginInlineBuiltinGenerator \
         TestAnnoOriginGeneratorFromFile \
         TestAnnoOriginBuiltinGeneratorFromFileWithOverlay \
         TestAnnoTransformerBuiltinLocal \
         TestAnnoOriginAndTransformerBuiltinLocal \
         TestAnnoTransformerLocalFilesWithOverlay \
         TestAnnoTransformerBuiltinInline",
    ),
    (
        "configurations",
        "adds name references to the tables of kustomize; `fieldSpecs` are for what a transformer itself changes",
        "TestCustomConfig TestCustomConfigWithDefaultOverspecification \
         TestFixedBug605_BaseCustomizationAvailableInOverlay \
         TestIntermediateNameSecretKeyRefDiamond \
         TestEmptyFieldSpecValue \
         TestIssue4682_NameReferencesToSelfInAnnotations \
         TestIssue4884_UseLocalConfigAsNameRefSource \
         TestIssue3449",
    ),
    (
        "openapi",
        "another schema for merging lists; there is one, that of Kubernetes",
        "TestCustomOpenApiFieldVersion",
    ),
    (
        "crds",
        "reads from a schema which fields are name references, as `configurations` name them",
        "TestCrdWithOverlay",
    ),
    (
        "plugins",
        "written in Go, for one build of kustomize; here `runtime` names programs and containers",
        "TestOrderedTransformers TestTransformedTransformers",
    ),
    (
        "a Kustomization",
        "the corpus has none where this is built, and a comment as what is expected",
        "TestRepeatBase",
    ),
];
