extern "C" int check_all();
int main() { return check_all() != 0; }
