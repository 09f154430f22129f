//! Tells the tests whether they have the shared data.
/// Sets the cfg `shared_data` if `KRM_TEMPLATE_SHARED` names a folder. Only tests use it: without
/// the folder, those that read it are ignored.
fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-env-changed=KRM_TEMPLATE_SHARED");
    println!("cargo:rustc-check-cfg=cfg(shared_data)");
    if std::env::var_os("KRM_TEMPLATE_SHARED").is_some_and(|path| !path.is_empty()) {
        println!("cargo:rustc-cfg=shared_data");
    }
}
