// Where the simulated driver is chosen, `cudarc` finds it in a folder of the dynamic linker, by the name of the
// real one.  The linker reads the list of its folders when a process starts.  (No `//!`: examples include this.)

/// Runs an example where `cudarc` finds the driver of this process: if that is the simulator, in another
/// process of this program.
#[allow(dead_code, reason = "for examples of the documentation")]
pub fn linked(body: impl FnOnce() -> Result<(), Box<dyn std::error::Error>>) {
    const AGAIN: &str = "ARROW_CUDA_LINKED";
    if std::env::var_os(AGAIN).is_some() || !arrow_cuda_driver::is_simulated().expect("a driver") {
        return body().expect("the example runs");
    }
    let folder = folder_with_simulator();
    let again = std::process::Command::new(std::env::current_exe().expect("a path"))
        .args(std::env::args_os().skip(1))
        .envs([(AGAIN, "1"), ("LD_LIBRARY_PATH", &before_others(&folder))])
        .status();
    std::fs::remove_dir_all(folder).expect("the folder goes");
    assert!(again.expect("this program starts").success());
}

/// A new folder in which `libcuda.so` is a link to the simulator.
pub fn folder_with_simulator() -> String {
    // Here is the path even of a library that was loaded by its name alone.
    let maps = std::fs::read_to_string("/proc/self/maps").expect("of every process");
    let mut paths = maps.lines().filter_map(|line| line.split_whitespace().nth(5));
    let library = paths.find(|path| path.contains("cuda_sim") && path.ends_with(".so"));
    let number = std::time::SystemTime::UNIX_EPOCH.elapsed().expect("a later time").as_nanos();
    let name = format!("libcuda-{}-{number}", std::process::id());
    let folder = std::env::temp_dir().join(name);
    std::fs::create_dir(&folder).expect("a folder");
    std::os::unix::fs::symlink(library.expect("it is loaded"), folder.join("libcuda.so"))
        .expect("a link");
    folder.into_os_string().into_string().expect("text")
}

/// The linker's folders, with this one in front: among the others, examples find the simulator.
#[allow(dead_code, reason = "for some of the tests")]
pub fn before_others(folder: &str) -> String {
    format!("{folder}:{}", std::env::var("LD_LIBRARY_PATH").unwrap_or_default())
}
